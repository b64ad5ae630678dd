/** What a command is given of the process it runs in. */
export type Surroundings = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  out(text: string): void;
  err(text: string): void;
};

/** A command could not do what was asked. The message is for the person at the terminal: what is wrong, what to do. */
export class CommandError extends Error {
  override name = 'CommandError';
}
