import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/** The payer of the sandbox, which has the test coins. It is no part of what is installed from npm. */
const PAYER = fileURLToPath(new URL('../../sandbox/src/pay.ts', import.meta.url));

/** The last line that it prints; it may say before that it waits. */
const paidSchema = z.object({
  id: z.string(),
  asset: z.string(),
  amount: z.string(),
  address: z.string(),
  transaction: z.string(),
  url: z.string(),
});

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
  const args = [PAYER, id, '--json', ...given, ...(late === true ? ['--late'] : [])];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: around.cwd,
      env: { ...around.env },
    });
    const paid = paidSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
    const { asset, amount, address, transaction, url } = paid;
    const text = say`paid ${amount} ${asset} to ${address}\ntransaction ${transaction}\nwatch it: ${url}\n`;
    return { json: paid, text };
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new CommandError(said.trim());
  }
}
