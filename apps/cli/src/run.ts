import { ChainUnseen } from '@quittance/reconciliation/verify-books';
import { isDatabaseDown } from '@quittance/shared/db';
import { reason } from '@quittance/shared/logger';
import { StartRefused } from '@quittance/shared/start-refusal';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { assetHalt, assetList, resumePayouts } from './auditor-commands.ts';
import { keepTheBus, natsPermissions } from './bus-commands.ts';
import { checkBooks, migrate } from './database-commands.ts';
import { fillEnv } from './env-commands.ts';
import {
  accountCreate,
  accountList,
  type TokenOptions,
  tokenCreate,
  tokenList,
  tokenRevoke,
} from './gateway-commands.ts';
import { addOperatorCommands } from './operator-line.ts';
import type { Outcome, SaidOutcome } from './outcome.ts';
import { inLine, printing, say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/** 0: done. 1: could not be done, or what was found is bad. 2: the command was not understood. */
export type ExitCode = 0 | 1 | 2;

const PATIENCE_SECONDS = 60;
const CHAIN_DAYS = 30;

const examples = `
Examples:
  $ npx quittance account create "My shop"
  $ npx quittance token create "My shop" --name "server"
  $ npx quittance token list "My shop"
  $ npx quittance payout show 3059051053761981
  $ npx quittance parked list
  $ npx quittance verify-books

Which database: OPERATOR_DATABASE_URL to look into what happened and act on it, GATEWAY_DATABASE_URL for
accounts and tokens, DATABASE_URL_ADMIN for everything; without them the sandbox that \`npm start\` runs.
Who you are, for what is written down of it: QUITTANCE_OPERATOR, else this process's user.
Exit codes: 0 done, 1 failed or found wrong, 2 not understood.
`;

/** JSON has no number that holds every amount. */
const amountAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

/** Runs one command line. Every command takes --json, and then also says in JSON what went wrong. */
export async function run(args: readonly string[], given: Surroundings): Promise<ExitCode> {
  const around = printing(given);
  let code: ExitCode = 0;
  const inJson = args.includes('--json');
  const fail = (message: string) =>
    around.err(inJson ? `${JSON.stringify({ message }, null, 2)}\n` : `${message}\n`);
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
    fail(explain(error));
    return 1;
  }
}

const notUnderstood = ({ code, message }: CommanderError): string =>
  code === 'commander.help' ? 'Which command? --help names them.' : message.replace(/^error: /, '');

type Tell = (json: boolean, outcome: SaidOutcome) => void;
type Write = (json: boolean, outcome: Outcome) => void;
type JsonOption = { json?: boolean };

function commandLine(around: Surroundings, { tell, write }: { tell: Tell; write: Write }): Command {
  const program = new Command('quittance')
    .description('Runs a Quittance: its merchants, their API tokens, its database, its bus and its books.')
    .exitOverride()
    .configureOutput({ writeOut: around.out, writeErr: around.err })
    .showHelpAfterError('(add --help to see what it takes)')
    .addHelpText('after', examples);

  const account = program
    .command('account')
    .description('Merchants: each has balances, invoices and payouts of its own.');
  leaf(
    account,
    'create',
    'make an account; its name is unique and can be used wherever an ACCOUNT is asked for',
  )
    .argument('<name>', 'what to call it, such as "My shop"')
    .action(async (name: string, { json = false }: JsonOption) =>
      tell(json, await accountCreate(around, name)),
    );
  leaf(account, 'list', 'show all accounts, oldest first').action(async ({ json = false }: JsonOption) =>
    tell(json, await accountList(around)),
  );

  const token = program
    .command('token')
    .description('API tokens: what a merchant’s server sends as Authorization: Bearer.');
  leaf(token, 'create', 'make a token and show it, this once')
    .argument('<account>', 'the id or the name of the account it is for')
    .requiredOption('--name <name>', 'what it is for, such as "server" or "till 2"')
    .option(
      '--expires-in-days <days>',
      'refuse it after so many days; without this it is good until revoked',
      days,
    )
    .action(async (of: string, { json = false, ...options }: TokenOptions & JsonOption) =>
      tell(json, await tokenCreate(around, of, options)),
    );
  leaf(
    token,
    'list',
    'show tokens: never themselves, only their last characters, when used and whether let in',
  )
    .argument('[account]', 'only those of this account, by id or name')
    .action(async (of: string | undefined, { json = false }: JsonOption) =>
      tell(json, await tokenList(around, of)),
    );
  leaf(token, 'revoke', 'end a token for good: the next request with it is refused')
    .argument('<token-id>', 'its id (tok_…), as `token list` shows it')
    .action(async (id: string, { json = false }: JsonOption) => tell(json, await tokenRevoke(around, id)));

  addOperatorCommands(program, { around, tell, leaf });
  const asset = program
    .command('asset')
    .description('Payouts by asset: halted when its books are wrong, or by you.');
  leaf(asset, 'list', 'show whose payouts are halted, since when and why').action(
    async ({ json = false }: JsonOption) => tell(json, await assetList(around)),
  );
  leaf(asset, 'halt', 'halt the payouts of an asset at once, until you resume them')
    .argument('<asset>', 'such as ETH')
    .requiredOption('--reason <words>', 'why, for whoever finds it halted')
    .addHelpText(
      'after',
      '\nNew payouts are answered 503 and nothing new is signed; what was signed before is followed to its end.\n',
    )
    .action(async (named: string, { json = false, reason: why }: JsonOption & { reason: string }) =>
      tell(json, await assetHalt(around, named, why)),
    );
  addResume(
    leaf(asset, 'resume', 'let payouts go on that were halted, once the books are right'),
    around,
    tell,
  );

  leaf(
    program,
    'env',
    'fill what is empty in the .env of docker-compose.yml and can be made: secrets and keys',
  )
    .option('--proxy <addresses>', 'which proxy is in front of the gateway: uniquelocal, 10.0.0.0/8, none, …')
    .addHelpText(
      'after',
      '\nReads the file on standard input and writes it to standard output: quittance env < .env.example > .env\nPasswords and secrets are random. WALLET_SEED becomes the words of a new wallet: keep a copy where no computer is.\nXPUBs and the addresses of the hot wallets, in a comment, are derived from it. What has a value keeps it;\nXPUBs that are not of the words of WALLET_SEED are refused.\n--proxy becomes TRUSTED_PROXIES: uniquelocal is a proxy on this machine or in a private network beside it, none is no proxy.\n',
    )
    .action(async ({ json = false, proxy }: JsonOption & { proxy?: string }) =>
      write(json, await fillEnv(around, proxy)),
    );
  leaf(program, 'migrate', 'bring the database of all services up to date: roles, schemas, tables')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL_ADMIN, and for each service the password of its role: GATEWAY_DATABASE_PASSWORD and so on.\nDATABASE_CONNECTIONS_MAX is how many connections each of these roles may have at once, 60 without it.\nRun it before the services of a new version start; it only goes forward and does nothing twice.\n',
    )
    .action(async ({ json = false }: JsonOption) => tell(json, await migrate(around)));
  leaf(
    program,
    'verify-books',
    'check the books of all services against each other and against the chains; changes nothing',
  )
    .option(
      '--patience <seconds>',
      'how long what is on its way from one service to the next may take',
      seconds,
      PATIENCE_SECONDS,
    )
    .option(
      '--days <days>',
      'how far back payouts and deposits are looked up in their chains',
      days,
      CHAIN_DAYS,
    )
    .option(
      '--logs <files...>',
      'log files in which no secret of these settings, or of the sandbox, may stand',
    )
    .addHelpText(
      'after',
      '\nChains are those of ETHEREUM_RPC_URL and so on, with the settings that the payouts service has; without any,\nthe sandbox’s. A node that does not answer is an error: the books were not checked against it.\n',
    )
    .action(async (given: JsonOption & { patience: number; days: number; logs?: string[] }) =>
      tell(
        given.json === true,
        await checkBooks(around, {
          patienceSeconds: given.patience,
          days: given.days,
          logs: given.logs ?? [],
        }),
      ),
    );
  addResume(leaf(program, 'resume-payouts', 'the same as `asset resume`'), around, tell);
  leaf(
    program,
    'keep-bus',
    'make the stream, durables and buckets of the bus, and again whenever it lost them',
  )
    .option('--once', 'make what is missing and end')
    .addHelpText(
      'after',
      '\nNeeds NATS_URL with the name and password of the user `keeper`. Keep it running: services make nothing on the\nbus, so one that lost its data stays silent until this has made it whole. Its log is on standard output.\n',
    )
    .action(async ({ json = false, once = false }: JsonOption & { once?: boolean }) =>
      tell(json, await keepTheBus(around, { once })),
    );
  leaf(
    program,
    'nats-permissions',
    'print the users of the bus and their rights, for nats-server’s configuration',
  )
    .addHelpText(
      'after',
      '\nPasswords are variables of nats-server’s environment: KEEPER_NATS_PASSWORD, LEDGER_NATS_PASSWORD and so on.\nThis checkout’s own is in deploy/nats.\n',
    )
    .action(({ json = false }: JsonOption) => write(json, natsPermissions()));
  return program;
}

/** Under its old name and its new one. */
function addResume(command: Command, around: Surroundings, tell: Tell): void {
  command
    .argument('<asset>', 'such as ETH')
    .option(
      '--force',
      'although the books are still wrong: what is wrong now is accepted, anything else halts anew',
    )
    .option(
      '--patience <seconds>',
      'how long what is on its way from one service to the next may take',
      seconds,
      PATIENCE_SECONDS,
    )
    .option(
      '--days <days>',
      'how far back payouts and deposits are looked up in their chain',
      days,
      CHAIN_DAYS,
    )
    .addHelpText(
      'after',
      '\nThe chain of the asset is asked as by verify-books, and must be: give this command the settings of its node.\n',
    )
    .action(async (asset: string, given: JsonOption & { force?: boolean; patience: number; days: number }) =>
      tell(
        given.json === true,
        await resumePayouts(around, {
          asset,
          force: given.force === true,
          patienceSeconds: given.patience,
          days: given.days,
        }),
      ),
    );
}

function leaf(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'say it in JSON, for programs');
}

const wholeNumber = (what: string, min: number, max: number) => (text: string) => {
  // tidy-allow number: days and seconds
  const number = /^\d{1,9}$/.test(text) ? Number.parseInt(text, 10) : -1;
  if (number < min || number > max)
    throw new InvalidArgumentError(`It must be a whole number of ${what}, ${min} to ${max}.`);
  return number;
};
const days = wholeNumber('days', 1, 36_500);
const seconds = wholeNumber('seconds', 0, 86_400);

/** An error in words that help the person who typed the command. */
function explain(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (error instanceof ChainUnseen) return `The books could not be checked: ${inLine(error.message)}.`;
  if (error instanceof StartRefused) return `It was not begun: ${inLine(error.message)}.`;
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
