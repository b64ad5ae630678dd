import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Outcome, SaidOutcome } from './outcome.ts';
import type { Surroundings } from './surroundings.ts';

export type Output = {
  /** Prints an outcome as text or JSON. */
  tell(json: boolean, outcome: SaidOutcome): void;
  /** Prints a file for another program. */
  write(json: boolean, outcome: Outcome): void;
};

/** Makes an action of a command from a function that returns the outcome. The option --json prints it as JSON. */
type Printing<O> = <A extends unknown[]>(
  run: (...given: A) => O | Promise<O>,
) => (...given: A) => Promise<void>;

/** What each group of commands is given. */
export type Line = { around: Surroundings; prints: Printing<SaidOutcome>; writes: Printing<Outcome> };

const printing =
  <O>(print: (json: boolean, outcome: O) => void): Printing<O> =>
  (run) =>
  async (...given) => {
    // Commander appends the options and the command.
    const { json = false } = given.at(-2) as { json?: boolean };
    print(json, await run(...given));
  };

export const lineOf = (around: Surroundings, { tell, write }: Output): Line => ({
  around,
  prints: printing(tell),
  writes: printing(write),
});

/** Adds a command that has the option --json. */
export const leaf = (parent: Command, name: string, description: string): Command =>
  parent.command(name).description(description).option('--json', 'print JSON');

const wholeNumber = (what: string, min: number, max: number) => (text: string) => {
  // eslint-disable-next-line no-restricted-syntax -- days, seconds and requests
  const number = /^\d{1,9}$/.test(text) ? Number.parseInt(text, 10) : -1;
  if (number < min || number > max)
    throw new InvalidArgumentError(`It must be a whole number of ${what}, ${min} to ${max}.`);
  return number;
};
export const days = wholeNumber('days', 1, 36_500);
export const overlapHours = wholeNumber('hours', 0, 168);
/** Of a cluster of NATS. */
export const natsReplicas = wholeNumber('nodes', 1, 5);
export const hoursOld = wholeNumber('hours', 1, 10_000);
export const userId = wholeNumber('a user', 0, 65_535);
const seconds = wholeNumber('seconds', 0, 86_400);
const requests = wholeNumber('requests', 1, 1_000_000);
/** A limit of requests a minute; null for the limit of the settings. */
export const requestLimit = (text: string): number | null => (text === 'default' ? null : requests(text));

export const listLimit = wholeNumber('items', 1, 10_000);
/** Of an event. */
export const sequence = wholeNumber('events', 0, 999_999_999);

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
