/** What a command is given of the process it runs in. */
export type Surroundings = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The sandbox's folder to fall back on; without it only SANDBOX_DIR and the folders from `cwd` upwards count. */
  sandbox?: string;
  out(text: string): void;
  err(text: string): void;
  /** All of standard input; undefined where a person sits at it. */
  input?(): Promise<string | undefined>;
  /** Asks the person at the terminal; undefined where nobody sits at it. */
  ask?(question: string, echo: 'shown' | 'hidden'): Promise<string | undefined>;
  /** Shows the person at the terminal what no file and no log may hold; undefined where nobody sits at it. */
  showSecret?: ((text: string) => void) | undefined;
  /** How much work the key of a new keystore is; as much as `encryptPhrase` takes by itself when not given. */
  keystoreCost?: { n: number };
  /** Aborts when the process is told to end. Only a command that runs on asks for it; the others simply end. */
  stopping?(): AbortSignal;
};

/** A command could not do what was asked. The message is for the person at the terminal: what is wrong, what to do. */
export class CommandError extends Error {
  override name = 'CommandError';
  /** What a program needs to go on, for --json. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.details = details;
  }
}
