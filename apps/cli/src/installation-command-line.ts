import type { Command } from 'commander';
import type { CertificateOptions } from './certificate-commands.ts';
import {
  type Line,
  leaf,
  natsReplicas,
  type ScopeOptions,
  scopeOf,
  userId,
  withScope,
} from './command-options.ts';

// Loaded when a command runs, for the reason that command-line.ts gives.
const loadCertificates = () => import('./certificate-commands.ts');
const loadDatabases = () => import('./database-commands.ts');
const loadInit = () => import('./init-command.ts');
const loadNats = () => import('./nats-commands.ts');

/** The commands that set an installation up and compare its records. */
export function addInstallation(program: Command, { around, prints, writes }: Line): void {
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
    .action(writes(async ({ proxy }: { proxy?: string }) => (await loadInit()).initEnv(around, proxy)));
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
      prints(async (folder: string, options: CertificateOptions) =>
        (await loadCertificates()).makeCertificates(around, folder, options, new Date()),
      ),
    );
  leaf(program, 'migrate', 'create or update the roles, schemas and tables of all services')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL_ADMIN, and for each service the password of its role: GATEWAY_DATABASE_PASSWORD and so on.\nDATABASE_CONNECTIONS_MAX limits the connections of each of these roles (default 60). Run it before the services of a new\nrelease start. Migrations only go forward, and running the command again does nothing.\n',
    )
    .action(prints(async () => (await loadDatabases()).migrate(around)));
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
      prints(async ({ logs = [], ...given }: ScopeOptions & { logs?: string[] }) =>
        (await loadDatabases()).checkBooks(around, { ...scopeOf(given), logs }),
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
      prints(async ({ watch = false, replicas }: { watch?: boolean; replicas: number }) =>
        (await loadNats()).provisionNats(around, { watch, replicas }),
      ),
    );
  leaf(nats, 'permissions', 'print the NATS users and their permissions for the configuration of nats-server')
    .addHelpText(
      'after',
      '\nThe passwords are environment variables of nats-server: PROVISIONER_NATS_PASSWORD, LEDGER_NATS_PASSWORD and so on. The\noutput of this release is in deploy/nats.\n',
    )
    .action(writes(async () => (await loadNats()).natsPermissions()));
}
