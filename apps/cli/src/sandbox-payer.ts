import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/** The payer of the sandbox, which has the test coins. It is no part of what is installed from npm. */
const PAYER = fileURLToPath(new URL('../../sandbox/src/pay.ts', import.meta.url));

export type PayOptions = { asset?: string; amount?: string; late?: boolean; port?: string };

/** Pays an invoice of the running sandbox as its customer would. */
export async function payInSandbox(
  around: Surroundings,
  id: string,
  options: PayOptions,
): Promise<SaidOutcome> {
  if (!existsSync(PAYER))
    throw new CommandError(
      'Only a sandbox pays by itself: run `npx quittance pay` in the checkout in which `npm start` runs.',
    );
  const { late, ...texts } = options;
  const given = Object.entries(texts).flatMap(([name, value]) => [`--${name}`, value]);
  const args = [PAYER, id, ...given, ...(late === true ? ['--late'] : [])];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: around.cwd,
      env: { ...around.env },
    });
    const lines = stdout.trim().split('\n');
    return { json: { id, lines }, text: say`${lines.map((line) => say`${line}\n`)}` };
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new CommandError(said.trim());
  }
}
