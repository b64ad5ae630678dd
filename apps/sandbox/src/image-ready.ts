import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * What the image's main process and its health check know of each other: a file that is there while the first is ready. It
 * holds the URL of the gateway, or nothing where only chain nodes run.
 */
const FILE = join(tmpdir(), 'quittance-ready');

export const sayReady = (url = ''): void => writeFileSync(FILE, url);

/** A container that is started again has the file of its last start. */
export const forgetReady = (): void => rmSync(FILE, { force: true });

/** The URL; throws while nothing is ready. */
export const readyUrl = (): string => readFileSync(FILE, 'utf8');
