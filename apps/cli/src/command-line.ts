import { allScopes } from '@quittance/gateway/operations/read-limits';
import { Command, Option } from 'commander';
import { addArchive } from './archive/archive-line.ts';
import { addBackup } from './backup/backup-line.ts';
import { type CertificateOptions, makeCertificates } from './certificate-commands.ts';
import {
  days,
  type Line,
  leaf,
  lineOf,
  natsReplicas,
  type Output,
  overlapHours,
  requestLimit,
  type ScopeOptions,
  scopeOf,
  userId,
  withScope,
} from './command-options.ts';
import { checkBooks, migrate } from './database-commands.ts';
import { addDoctor } from './doctor/doctor-line.ts';
import { addFormerNames } from './former-names.ts';
import { accountCreate, accountLimit, accountList } from './gateway-commands.ts';
import { initEnv } from './init-command.ts';
import { addMerchantCommands } from './merchant-command-line.ts';
import { natsPermissions, provisionNats } from './nats-commands.ts';
import { addOperatorCommands } from './operator-command-line.ts';
import {
  peopleInvite,
  peopleList,
  peopleOperator,
  peopleRemove,
  peopleReset,
  roleNames,
} from './people-commands.ts';
import type { Surroundings } from './surroundings.ts';
import {
  duration,
  ipOption,
  scopeOption,
  type TokenOptions,
  tokenCreate,
  tokenList,
  tokenRevoke,
  tokenRotate,
} from './token-commands.ts';
import { addWalletCommands } from './wallet-command-line.ts';

const examples = `
Examples:
  $ npx quittance account create "My shop"
  $ npx quittance token create "My shop" --name "server"
  $ npx quittance token list "My shop"
  $ npx quittance payouts show 3059051053761981
  $ npx quittance dead-letters list
  $ npx quittance verify-books
  $ npx quittance doctor
  $ npx quittance login --url https://pay.example.com
  $ npx quittance invoices create 25 --asset ETH
  $ npx quittance listen --forward-to http://localhost:3000/hook

Merchants: \`quittance login\` stores URL and API token; QUITTANCE_URL and QUITTANCE_TOKEN override them.
Database: OPERATOR_DATABASE_URL for the operator's commands, GATEWAY_DATABASE_URL for accounts and tokens,
DATABASE_URL_ADMIN for all commands. Without them, the sandbox that \`npm start\` runs.
Name in the audit log: QUITTANCE_OPERATOR, else the user of this process.
Exit codes: 0 success, 1 failure or a problem found, 2 wrong usage.
`;

/** All commands. */
export function commandLine(around: Surroundings, output: Output): Command {
  const line = lineOf(around, output);
  const program = new Command('quittance')
    .description(
      'Administers Quittance: accounts, API tokens, database, NATS, payouts and reconciliation. For merchants: invoices, payouts, balance, events.',
    )
    .exitOverride()
    .configureOutput({ writeOut: around.out, writeErr: around.err })
    .showHelpAfterError('(add --help to see what it takes)')
    .addHelpText('after', examples);
  addAccounts(program, line);
  addPeople(program, line);
  addOperatorCommands(program, line);
  addMerchantCommands(program, line);
  addInstallation(program, line);
  addBackup(program, line);
  addArchive(program, line);
  addDoctor(program, line);
  addWalletCommands(program, line);
  addFormerNames(program, line);
  return program;
}

function addAccounts(program: Command, { around, prints }: Line): void {
  const account = program
    .command('account')
    .description('Accounts of merchants. Each account has its own balances, invoices and payouts.');
  leaf(account, 'create', 'create an account; other commands accept its name or its id')
    .argument('<name>', 'a unique name, such as "My shop"')
    .action(prints((name: string) => accountCreate(around, name)));
  leaf(account, 'list', 'list all accounts, oldest first').action(prints(() => accountList(around)));

  leaf(account, 'limit', 'limit how many requests each token of an account may send in a minute')
    .argument('<account>', 'the id or the name of the account')
    .argument('<requests>', 'requests a minute, or "default" for RATE_LIMIT_PER_MINUTE', requestLimit)
    .addHelpText('after', '\nIn force on all gateways within a minute.\n')
    .action(prints((of: string, limit: number | null) => accountLimit(around, of, limit)));

  const token = program
    .command('token')
    .description('API tokens, which a merchant’s server sends as `Authorization: Bearer`.');
  leaf(token, 'create', 'create a token and show it, this once')
    .argument('<account>', 'the id or the name of the account')
    .requiredOption('--name <name>', 'the purpose of the token, such as "server" or "till 2"')
    .option(
      '--scope <scope>',
      'what the token may do; several by repeating it or with commas; without this it may do everything',
      scopeOption,
    )
    .option(
      '--allow-ip <address>',
      'an address or a network from which the token may be used, such as 203.0.113.0/24; may be repeated; without this from everywhere',
      ipOption,
    )
    .option(
      '--expires-in <time>',
      'hours or days until the token expires, such as 12h or 90d; without this it is valid until it is revoked',
      duration,
    )
    .addOption(new Option('--expires-in-days <days>').argParser(days).hideHelp())
    .addHelpText(
      'after',
      `\nScopes: ${allScopes.join(', ')}.\nTo write includes to read.\n\nExamples:\n  $ npx quittance token create "My shop" --name "till 2" --scope invoices:write --allow-ip 203.0.113.0/24\n`,
    )
    .action(prints((of: string, options: TokenOptions) => tokenCreate(around, of, options)));
  leaf(
    token,
    'rotate',
    'replace a token by a new one with the same scopes and addresses, and show it, this once',
  )
    .argument('<token-id>', 'the token id (tok_…) that `token list` shows')
    .option(
      '--overlap-hours <hours>',
      'how long the former token stays valid; 0: it ends now',
      overlapHours,
      24,
    )
    .option(
      '--expires-in <time>',
      'hours or days until the new token expires; without this it expires when the former one would have',
      duration,
    )
    .action(
      prints((id: string, options: { overlapHours: number; expiresIn?: number }) =>
        tokenRotate(around, id, options),
      ),
    );
  leaf(
    token,
    'list',
    'list tokens with their last characters, last use and state; the token itself is never shown',
  )
    .argument('[account]', 'the id or the name of an account; without it, the tokens of all accounts')
    .action(prints((of: string | undefined) => tokenList(around, of)));
  leaf(token, 'revoke', 'revoke a token; the next request with it is refused')
    .argument('<token-id>', 'the token id (tok_…) that `token list` shows')
    .action(prints((id: string) => tokenRevoke(around, id)));
}

function addPeople(program: Command, { around, prints }: Line): void {
  const people = program
    .command('people')
    .description(
      'People who sign in with e-mail address and password. Each has a role in one account or more.',
    );
  const account = ['--account <account>', 'the id or the name of the account'] as const;
  const email = ['--email <email>', 'the e-mail address of the person'] as const;
  leaf(people, 'invite', 'show a token by which somebody becomes one of an account, this once')
    .requiredOption(...account)
    .requiredOption(...email)
    .addOption(new Option('--role <role>', 'what the person may do').choices(roleNames).makeOptionMandatory())
    .addHelpText(
      'after',
      '\nNo e-mail is sent. Owners and admins invite further people through the API.\n\nExamples:\n  $ npx quittance people invite --account "My shop" --email anna@shop.example --role owner\n',
    )
    .action(prints((options: Parameters<typeof peopleInvite>[1]) => peopleInvite(around, options)));
  leaf(people, 'list', 'list people with their roles and their last sign-in')
    .argument('[account]', 'the id or the name of an account; without it, the people of all accounts')
    .action(prints((of: string | undefined) => peopleList(around, of)));
  leaf(people, 'remove', 'take somebody out of an account, also its last owner')
    .requiredOption(...account)
    .requiredOption(...email)
    .action(prints((options: Parameters<typeof peopleRemove>[1]) => peopleRemove(around, options)));
  leaf(
    people,
    'reset',
    'take password, second factor and passkeys away, end all sessions, and show a token for a new password',
  )
    .requiredOption(...email)
    .action(prints((options: { email: string }) => peopleReset(around, options)));
  leaf(people, 'operator', 'make somebody an operator of this installation in the dashboard, or no longer')
    .argument('<email>', 'the e-mail address of the person')
    .option('--grant', 'the person sees and does what operators may')
    .option('--account <account>', 'with --grant: an account that the person is in, by its name or id')
    .option('--revoke', 'the person no longer does')
    .addHelpText(
      'after',
      '\nNeeds OPERATOR_DATABASE_URL: the gateway makes nobody an operator. Operators see all accounts, chains, wallets and the\nreconciliation, and may pause payouts. API tokens are never an operator’s.\n',
    )
    .action(
      prints((email: string, options: { grant?: boolean; revoke?: boolean; account?: string }) =>
        peopleOperator(around, email, options),
      ),
    );
}

function addInstallation(program: Command, { around, prints, writes }: Line): void {
  leaf(program, 'init', 'fill the empty secrets and keys of an .env file for docker-compose.yml')
    .alias('env')
    .option(
      '--proxy <addresses>',
      'the proxy in front of the gateway, which becomes TRUSTED_PROXIES: uniquelocal, 10.0.0.0/8, none, …',
    )
    .addHelpText(
      'after',
      '\nReads the file on standard input and writes the filled file to standard output. Settings with a value keep it.\nPasswords, secrets and the key pair of the gateway are random. `quittance wallet init` makes the keystore, which this command opens: the XPUBs\nand the addresses of the hot wallets, which stand in a comment, are derived from its recovery phrase. An XPUB of another phrase is\nrefused. For --proxy, uniquelocal is a proxy on this machine or in its private network, none is no proxy.\n\nExamples:\n  $ npx quittance init --proxy none < .env.example > .env\n',
    )
    .action(writes(({ proxy }: { proxy?: string }) => initEnv(around, proxy)));
  leaf(
    program,
    'certificates',
    'make certificates for Postgres, NATS and Redis, of an authority of their own',
  )
    .argument('<folder>', 'where they are written; complete ones are kept')
    .option('--owner <uid>', 'the user of the servers, who may read the keys; for root alone', userId)
    .addHelpText(
      'after',
      '\nServices verify the servers by ca/ca.crt: `sslrootcert` in their URLs. The private key of the authority is kept nowhere. Each folder is\nfor one server, and its key is to be read by that one alone. docker-compose.yml runs this command.\n',
    )
    .action(
      prints((folder: string, options: CertificateOptions) =>
        makeCertificates(around, folder, options, new Date()),
      ),
    );
  leaf(program, 'migrate', 'create or update the roles, schemas and tables of all services')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL_ADMIN, and for each service the password of its role: GATEWAY_DATABASE_PASSWORD and so on.\nDATABASE_CONNECTIONS_MAX limits the connections of each of these roles (default 60). Run it before the services of a new\nrelease start. Migrations only go forward, and running the command again does nothing.\n',
    )
    .action(prints(() => migrate(around)));
  withScope(
    leaf(
      program,
      'verify-books',
      'compare the records of all services with each other and with the chains; changes nothing',
    ),
  )
    .option('--logs <files...>', 'log files to search for the secrets of these settings, or of the sandbox')
    .addHelpText(
      'after',
      '\nThe chains come from the settings of the payouts service (ETHEREUM_RPC_URL and so on), or from the sandbox when none is\nset. A node that does not answer is an error, because nothing was compared with it.\n',
    )
    .action(
      prints(({ logs = [], ...given }: ScopeOptions & { logs?: string[] }) =>
        checkBooks(around, { ...scopeOf(given), logs }),
      ),
    );
  const nats = program
    .command('nats')
    .description('The stream, consumers, buckets and users of NATS. Services create none of them.');
  leaf(nats, 'provision', 'create the NATS stream, consumers and buckets that are missing')
    .option('--watch', 'keep running, and create them again when NATS lost them')
    .option(
      '--replicas <nodes>',
      'on how many nodes of a cluster each stream is that is created',
      natsReplicas,
      1,
    )
    .addHelpText(
      'after',
      '\nNeeds NATS_URL with the name and password of the user `provisioner`. Keep it running with --watch: after NATS lost its data,\nservices wait until this command has created the stream again. With --watch it logs to standard output.\n',
    )
    .action(
      prints(({ watch = false, replicas }: { watch?: boolean; replicas: number }) =>
        provisionNats(around, { watch, replicas }),
      ),
    );
  leaf(nats, 'permissions', 'print the NATS users and their permissions for the configuration of nats-server')
    .addHelpText(
      'after',
      '\nThe passwords are environment variables of nats-server: PROVISIONER_NATS_PASSWORD, LEDGER_NATS_PASSWORD and so on. The\noutput of this release is in deploy/nats.\n',
    )
    .action(writes(natsPermissions));
}
