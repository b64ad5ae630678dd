import type { Said } from './output.ts';

/** What a command has to say: to a person, or to a program. */
export type Outcome<Text extends Said | string = string> = {
  text: Text;
  json: unknown;
  /** The command ran and what it found is bad: exit code 1. */
  bad?: boolean;
};

/** All but what is a file for another program. */
export type SaidOutcome = Outcome<Said>;
