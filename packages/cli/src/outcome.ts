/** What a command has to say: to a person, or to a program. */
export type Outcome = {
  text: string;
  json: unknown;
  /** The command ran and what it found is bad: exit code 1. */
  bad?: boolean;
};
