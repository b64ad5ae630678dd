import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

/** Finds or fetches it once in a checkout, and does nothing afterwards. */
const FETCH = fileURLToPath(new URL('../../../tools/setup/fetch-browser.mjs', import.meta.url));
const ENGINES_DIR = fileURLToPath(new URL('../../../.engines/', import.meta.url));

export type Chromium = {
  file: string;
  env: Readonly<Record<string, string>>;
  /** It brings its own fonts, so that pages look the same on each machine. */
  hasFonts: boolean;
};
/** Why there is none. */
export type NoChromium = { problem: string };

type Entry = { path?: string; libraries?: string[]; problem?: string };

/** The Chromium of this machine, or the one that the set-up of the tests fetches: that takes ten seconds, once. */
export async function findChromium(): Promise<Chromium | NoChromium> {
  const { stderr } = await promisify(execFile)(process.execPath, [FETCH]);
  process.stderr.write(stderr);
  const { chromium: entry } = JSON.parse(readFileSync(path.join(ENGINES_DIR, 'browser.json'), 'utf8')) as {
    chromium: Entry;
  };
  if (entry.path === undefined) return { problem: entry.problem ?? 'there is no Chromium' };
  const libraries = entry.libraries?.map((folder) => path.resolve(ENGINES_DIR, folder)).join(':');
  // What was fetched brings its own fonts.
  const fonts = path.join(ENGINES_DIR, 'chromium');
  const hasFonts = !path.isAbsolute(entry.path) && existsSync(path.join(fonts, 'fonts.conf'));
  return {
    file: path.resolve(ENGINES_DIR, entry.path),
    env: {
      ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }),
      ...(hasFonts ? { FONTCONFIG_PATH: fonts } : {}),
    },
    hasFonts,
  };
}

/** Without Chromium's own sandbox, which root cannot have, and others on few machines: it is shown our pages alone. */
export const launch = ({ file, env }: Pick<Chromium, 'file' | 'env'>): Promise<Browser> =>
  chromium.launch({
    executablePath: file,
    env: { ...process.env, ...env },
    chromiumSandbox: false,
    // It ends with the process that started it: they talk over a pipe.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
