import { ChainNotCompared } from '@quittance/reconciliation/verify-books';
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

Database: OPERATOR_DATABASE_URL for the operator's commands, GATEWAY_DATABASE_URL for accounts and tokens,
DATABASE_URL_ADMIN for all commands. Without them, the sandbox that \`npm start\` runs.
Name in the audit log: QUITTANCE_OPERATOR, else the user of this process.
Exit codes: 0 success, 1 failure or a problem found, 2 wrong usage.
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

/** All commands. `tell` prints an outcome as text or JSON; `write` prints a file for another program. */
export function commandLine(around: Surroundings, { tell, write }: { tell: Tell; write: Write }): Command {
  const program = new Command('quittance')
    .description('Administers Quittance: accounts, API tokens, database, NATS, payouts and reconciliation.')
    .exitOverride()
    .configureOutput({ writeOut: around.out, writeErr: around.err })
    .showHelpAfterError('(add --help to see what it takes)')
    .addHelpText('after', examples);

  const account = program
    .command('account')
    .description('Accounts of merchants. Each account has its own balances, invoices and payouts.');
  leaf(account, 'create', 'create an account; other commands accept its name or its id')
    .argument('<name>', 'a unique name, such as "My shop"')
    .action(async (name: string, { json = false }: JsonOption) =>
      tell(json, await accountCreate(around, name)),
    );
  leaf(account, 'list', 'list all accounts, oldest first').action(async ({ json = false }: JsonOption) =>
    tell(json, await accountList(around)),
  );

  const token = program
    .command('token')
    .description('API tokens, which a merchant’s server sends as `Authorization: Bearer`.');
  leaf(token, 'create', 'create a token and show it, this once')
    .argument('<account>', 'the id or the name of the account')
    .requiredOption('--name <name>', 'the purpose of the token, such as "server" or "till 2"')
    .option(
      '--expires-in-days <days>',
      'days until the token expires; without this it is valid until it is revoked',
      days,
    )
    .action(async (of: string, { json = false, ...options }: TokenOptions & JsonOption) =>
      tell(json, await tokenCreate(around, of, options)),
    );
  leaf(
    token,
    'list',
    'list tokens with their last characters, last use and state; the token itself is never shown',
  )
    .argument('[account]', 'the id or the name of an account; without it, the tokens of all accounts')
    .action(async (of: string | undefined, { json = false }: JsonOption) =>
      tell(json, await tokenList(around, of)),
    );
  leaf(token, 'revoke', 'revoke a token; the next request with it is refused')
    .argument('<token-id>', 'the token id (tok_…) that `token list` shows')
    .action(async (id: string, { json = false }: JsonOption) => tell(json, await tokenRevoke(around, id)));

  addOperatorCommands(program, { around, tell, leaf });
  const asset = program
    .command('asset')
    .description(
      'Payouts by asset. The auditor halts them when the records of an asset contradict each other; an operator can halt them too.',
    );
  leaf(asset, 'list', 'list the assets with halted payouts, since when and why').action(
    async ({ json = false }: JsonOption) => tell(json, await assetList(around)),
  );
  leaf(asset, 'halt', 'halt the payouts of an asset until they are resumed')
    .argument('<asset>', 'the asset, such as ETH')
    .requiredOption('--reason <text>', 'the reason, shown by `asset list`')
    .addHelpText(
      'after',
      '\nNew payout requests are answered 503 and nothing new is signed. Transactions that are signed already are still sent\nand confirmed.\n',
    )
    .action(async (named: string, { json = false, reason: why }: JsonOption & { reason: string }) =>
      tell(json, await assetHalt(around, named, why)),
    );
  addResume(leaf(asset, 'resume', 'resume halted payouts after the cause is fixed'), around, tell);

  leaf(program, 'env', 'fill the empty secrets and keys of an .env file for docker-compose.yml')
    .option(
      '--proxy <addresses>',
      'the proxy in front of the gateway, which becomes TRUSTED_PROXIES: uniquelocal, 10.0.0.0/8, none, …',
    )
    .addHelpText(
      'after',
      '\nReads the file on standard input and writes the filled file to standard output. Settings with a value keep it.\nPasswords and secrets are random. WALLET_SEED becomes the recovery phrase of a new wallet: keep a copy offline. The XPUBs\nand the addresses of the hot wallets, which stand in a comment, are derived from it. An XPUB that does not belong to\nWALLET_SEED is refused. For --proxy, uniquelocal is a proxy on this machine or in its private network, none is no proxy.\n\nExamples:\n  $ npx quittance env --proxy none < .env.example > .env\n',
    )
    .action(async ({ json = false, proxy }: JsonOption & { proxy?: string }) =>
      write(json, await fillEnv(around, proxy)),
    );
  leaf(program, 'migrate', 'create or update the roles, schemas and tables of all services')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL_ADMIN, and for each service the password of its role: GATEWAY_DATABASE_PASSWORD and so on.\nDATABASE_CONNECTIONS_MAX limits the connections of each of these roles (default 60). Run it before the services of a new\nrelease start. Migrations only go forward, and running the command again does nothing.\n',
    )
    .action(async ({ json = false }: JsonOption) => tell(json, await migrate(around)));
  leaf(
    program,
    'verify-books',
    'compare the records of all services with each other and with the chains; changes nothing',
  )
    .option(
      '--patience <seconds>',
      'how long an event may be in flight between two services',
      seconds,
      PATIENCE_SECONDS,
    )
    .option(
      '--days <days>',
      'how many days of payouts and deposits are looked up in their chains',
      days,
      CHAIN_DAYS,
    )
    .option('--logs <files...>', 'log files to search for the secrets of these settings, or of the sandbox')
    .addHelpText(
      'after',
      '\nThe chains come from the settings of the payouts service (ETHEREUM_RPC_URL and so on), or from the sandbox when none is\nset. A node that does not answer is an error, because nothing was compared with it.\n',
    )
    .action(async (given: JsonOption & { patience: number; days: number; logs?: string[] }) =>
      tell(
        given.json === true,
        await checkBooks(around, {
          gracePeriodSeconds: given.patience,
          days: given.days,
          logs: given.logs ?? [],
        }),
      ),
    );
  addResume(leaf(program, 'resume-payouts', 'another name of `asset resume`'), around, tell);
  leaf(
    program,
    'keep-bus',
    'create the NATS stream, consumers and buckets, and create them again when NATS lost them',
  )
    .option('--once', 'create what is missing and exit')
    .addHelpText(
      'after',
      '\nNeeds NATS_URL with the name and password of the user `keeper`. Keep it running: services create nothing in NATS, so\nafter NATS lost its data they wait until this command has created the stream again. It logs to standard output.\n',
    )
    .action(async ({ json = false, once = false }: JsonOption & { once?: boolean }) =>
      tell(json, await keepTheBus(around, { once })),
    );
  leaf(
    program,
    'nats-permissions',
    'print the NATS users and their permissions for the configuration of nats-server',
  )
    .addHelpText(
      'after',
      '\nThe passwords are environment variables of nats-server: KEEPER_NATS_PASSWORD, LEDGER_NATS_PASSWORD and so on. The\noutput of this release is in deploy/nats.\n',
    )
    .action(({ json = false }: JsonOption) => write(json, natsPermissions()));
  return program;
}

/** Under its old name and its new one. */
function addResume(command: Command, around: Surroundings, tell: Tell): void {
  command
    .argument('<asset>', 'the asset, such as ETH')
    .option(
      '--force',
      'resume although discrepancies remain: the present ones are accepted, any other halts again',
    )
    .option(
      '--patience <seconds>',
      'how long an event may be in flight between two services',
      seconds,
      PATIENCE_SECONDS,
    )
    .option(
      '--days <days>',
      'how many days of payouts and deposits are looked up in their chain',
      days,
      CHAIN_DAYS,
    )
    .addHelpText(
      'after',
      '\nThe command compares the records with the chain of the asset, as verify-books does. It needs the settings of the node.\n',
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
  return parent.command(name).description(description).option('--json', 'print JSON');
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
  if (error instanceof ChainNotCompared) return `The books could not be checked: ${inLine(error.message)}.`;
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
