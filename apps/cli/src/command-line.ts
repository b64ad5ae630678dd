import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { allScopes } from '@quittance/gateway/operations/read-limits';
import { Command, Option } from 'commander';
import { addArchive } from './archive/archive-line.ts';
import { addBackup } from './backup/backup-line.ts';
import { days, type Line, leaf, lineOf, type Output, overlapHours, requestLimit } from './command-options.ts';
import { addDoctor } from './doctor/doctor-line.ts';
import { addFormerNames } from './former-names.ts';
import { addInstallation } from './installation-command-line.ts';
import { addMerchantCommands } from './merchant-command-line.ts';
import { addOperatorCommands } from './operator-command-line.ts';
import type { peopleInvite, peopleRemove } from './people-commands.ts';
import { duration, ipOption, roleNames, scopeOption } from './read-options.ts';
import type { Surroundings } from './surroundings.ts';
import type { TokenOptions } from './token-commands.ts';
import { addWalletCommands } from './wallet-command-line.ts';

// Loaded when a command runs: databases, NATS and chains take a second to load, and most commands need few of them.
const loadAccounts = () => import('./gateway-commands.ts');
const loadPeople = () => import('./people-commands.ts');
const loadTokens = () => import('./token-commands.ts');

/** Of this release: in a checkout the command's manifest is beside its sources, in a package from npm further up. */
const manifest = findPackageJSON('..', import.meta.url) ?? '';
const { version = 'unknown' } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string };

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
    .version(version, '--version', 'print the version')
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
    .action(prints(async (name: string) => (await loadAccounts()).accountCreate(around, name)));
  leaf(account, 'list', 'list all accounts, oldest first').action(
    prints(async () => (await loadAccounts()).accountList(around)),
  );

  leaf(account, 'limit', 'limit how many requests each token of an account may send in a minute')
    .argument('<account>', 'the id or the name of the account')
    .argument('<requests>', 'requests a minute, or "default" for RATE_LIMIT_PER_MINUTE', requestLimit)
    .addHelpText('after', '\nIn force on all gateways within a minute.\n')
    .action(
      prints(async (of: string, limit: number | null) =>
        (await loadAccounts()).accountLimit(around, of, limit),
      ),
    );

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
    .action(
      prints(async (of: string, options: TokenOptions) =>
        (await loadTokens()).tokenCreate(around, of, options),
      ),
    );
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
      prints(async (id: string, options: { overlapHours: number; expiresIn?: number }) =>
        (await loadTokens()).tokenRotate(around, id, options),
      ),
    );
  leaf(
    token,
    'list',
    'list tokens with their last characters, last use and state; the token itself is never shown',
  )
    .argument('[account]', 'the id or the name of an account; without it, the tokens of all accounts')
    .action(prints(async (of: string | undefined) => (await loadTokens()).tokenList(around, of)));
  leaf(token, 'revoke', 'revoke a token; the next request with it is refused')
    .argument('<token-id>', 'the token id (tok_…) that `token list` shows')
    .action(prints(async (id: string) => (await loadTokens()).tokenRevoke(around, id)));
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
    .action(
      prints(async (options: Parameters<typeof peopleInvite>[1]) =>
        (await loadPeople()).peopleInvite(around, options),
      ),
    );
  leaf(people, 'list', 'list people with their roles and their last sign-in')
    .argument('[account]', 'the id or the name of an account; without it, the people of all accounts')
    .action(prints(async (of: string | undefined) => (await loadPeople()).peopleList(around, of)));
  leaf(people, 'remove', 'take somebody out of an account, also its last owner')
    .requiredOption(...account)
    .requiredOption(...email)
    .action(
      prints(async (options: Parameters<typeof peopleRemove>[1]) =>
        (await loadPeople()).peopleRemove(around, options),
      ),
    );
  leaf(
    people,
    'reset',
    'take password, second factor and passkeys away, end all sessions, and show a token for a new password',
  )
    .requiredOption(...email)
    .action(prints(async (options: { email: string }) => (await loadPeople()).peopleReset(around, options)));
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
      prints(async (email: string, options: { grant?: boolean; revoke?: boolean; account?: string }) =>
        (await loadPeople()).peopleOperator(around, email, options),
      ),
    );
}
