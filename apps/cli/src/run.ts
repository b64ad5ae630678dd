import { QuittanceError } from '@quittance/client';
import { ChainNotCompared } from '@quittance/reconciliation/chain-not-compared';
import { isDatabaseDown } from '@quittance/shared/db-errors';
import { reason } from '@quittance/shared/logger';
import { StartRefused } from '@quittance/shared/readiness';
import { CommanderError } from 'commander';
import { detailsOf, said } from './api-errors.ts';
import { commandLine } from './command-line.ts';
import type { Outcome, SaidOutcome } from './outcome.ts';
import { inLine, printing, say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/** 0: done. 1: could not be done, or what was found is bad. 2: the command was not understood. */
export type ExitCode = 0 | 1 | 2;

/** JSON has no number that holds every amount. */
const amountAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

/** Runs one command line. Every command takes --json, and then also says in JSON what went wrong. */
export async function run(args: readonly string[], given: Surroundings): Promise<ExitCode> {
  const around = printing(given);
  let code: ExitCode = 0;
  const inJson = args.includes('--json');
  const fail = (message: string, details: object = {}) =>
    around.err(inJson ? `${JSON.stringify({ message, ...details }, null, 2)}\n` : `${message}\n`);
  const tell = (json: boolean, outcome: SaidOutcome) => {
    around.out(json ? `${JSON.stringify(outcome.json, amountAsText, 2)}\n` : outcome.text.text);
    if (outcome.bad === true) code = 1;
  };
  // A file for another program, byte by byte.
  const write = (json: boolean, outcome: Outcome) =>
    json ? tell(true, { ...outcome, text: say`` }) : given.out(outcome.text);
  try {
    // In JSON, what commander says of a command it did not understand is said below.
    const quiet = inJson ? { ...around, err: () => undefined } : around;
    await commandLine(quiet, { tell, write }).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      if (inJson) fail(notUnderstood(error));
      return 2;
    }
    fail(explain(error), detailed(error));
    return 1;
  }
}

function detailed(error: unknown): object {
  if (error instanceof QuittanceError) return detailsOf(error);
  return error instanceof CommandError ? error.details : {};
}

const notUnderstood = ({ code, message }: CommanderError): string =>
  code === 'commander.help' ? 'Which command? --help names them.' : message.replace(/^error: /, '');

/** An error in words that help the person who typed the command. */
function explain(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (error instanceof ChainNotCompared) return `The books could not be checked: ${inLine(error.message)}.`;
  if (error instanceof StartRefused) return `It was not begun: ${inLine(error.message)}.`;
  if (error instanceof QuittanceError) return said(error);
  const code = Error.isError(error) && 'code' in error ? error.code : undefined;
  if (code === '53100') return `The database's disk is full: make room there. (${inLine(reason(error))})`;
  if (isDatabaseDown(error)) {
    return `The database does not answer (${inLine(reason(error))}). Is it running, and is its URL right?`;
  }
  // Undefined table, undefined schema: a database that no migration has seen.
  if (code === '42P01' || code === '3F000') {
    return 'The database has no tables of Quittance, or old ones. Run `quittance migrate` first.';
  }
  if (typeof code === 'string' && code.startsWith('28'))
    return `The database lets nobody in with this URL: ${inLine(reason(error))}.`;
  return `It failed: ${inLine(reason(error))}`;
}
