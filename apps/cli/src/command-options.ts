import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Outcome, SaidOutcome } from './outcome.ts';
import type { Surroundings } from './surroundings.ts';

export type JsonOption = { json?: boolean };

/** What each group of commands is given. */
export type Line = {
  around: Surroundings;
  /** Prints an outcome as text or JSON. */
  tell(json: boolean, outcome: SaidOutcome): void;
  /** Prints a file for another program. */
  write(json: boolean, outcome: Outcome): void;
};

/** Adds a command that has the option --json. */
export const leaf = (parent: Command, name: string, description: string): Command =>
  parent.command(name).description(description).option('--json', 'print JSON');

const wholeNumber = (what: string, min: number, max: number) => (text: string) => {
  // eslint-disable-next-line no-restricted-syntax -- days and seconds
  const number = /^\d{1,9}$/.test(text) ? Number.parseInt(text, 10) : -1;
  if (number < min || number > max)
    throw new InvalidArgumentError(`It must be a whole number of ${what}, ${min} to ${max}.`);
  return number;
};
export const days = wholeNumber('days', 1, 36_500);
const seconds = wholeNumber('seconds', 0, 86_400);

const GRACE_PERIOD_SECONDS = 60;
const CHAIN_DAYS = 30;

export type ScopeOptions = { gracePeriod: number; patience?: number; days: number };

/** Adds the options of a reconciliation. --patience is the former name of --grace-period. */
export const withScope = (command: Command): Command =>
  command
    .option(
      '--grace-period <seconds>',
      'how long an event may be in flight between two services',
      seconds,
      GRACE_PERIOD_SECONDS,
    )
    .addOption(new Option('--patience <seconds>').argParser(seconds).hideHelp())
    .option(
      '--days <days>',
      'how many days of payouts and deposits are looked up in their chains',
      days,
      CHAIN_DAYS,
    );

export const scopeOf = ({ gracePeriod, patience, days: given }: ScopeOptions) => ({
  gracePeriodSeconds: patience ?? gracePeriod,
  days: given,
});
