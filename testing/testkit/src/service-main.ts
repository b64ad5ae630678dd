import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Service } from '@quittance/shared/events';
import { compiled } from '@quittance/stack/compiled-code';

export type ServiceMain = {
  /** What it has written until now. */
  said: { out: string; err: string };
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
};

/** A service as its own process, with these settings and no others, whether or not it can start. */
export function runServiceMain(
  service: Service,
  env: Readonly<Record<string, string>>,
  { node = [], stdout = 'pipe' }: { node?: readonly string[]; stdout?: number | 'pipe' } = {},
): ServiceMain {
  const main = fileURLToPath(new URL(`../../../services/${service}/src/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [...node, main], {
    env: { NODE_COMPILE_CACHE: compiled(), ...env },
    stdio: ['ignore', stdout, 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    said.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    said.err += chunk;
  });
  const ended = new Promise<Awaited<ServiceMain['ended']>>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  return { said, ended, kill: (signal) => void child.kill(signal) };
}
