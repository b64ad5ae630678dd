import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { reason } from '@quittance/shared/logger';
import { humanePace } from '@quittance/stack/chain-nodes';
import { DEFAULT_PORT, PORTS } from '@quittance/stack/ports';
import { type Stack, startStack } from '@quittance/stack/stack';
import { CHECKOUT_SANDBOX } from 'quittance/sandbox-folder';
import { demoAccounts } from './demo-accounts.ts';
import { welcome } from './welcome.ts';

const usage = `npm start -- [--port N] [--fresh]

  --port N   move the whole stack: it takes N and the ${PORTS - 1} ports after it (default ${DEFAULT_PORT})
  --fresh    throw away what an earlier start on this port left: balances, chains, accounts
`;

const say = (line: string) => process.stdout.write(`${line}\n`);
/** `.sandbox` in the checkout; SANDBOX_DIR keeps a test's stack out of a person's. */
const home = process.env['SANDBOX_DIR'] ?? CHECKOUT_SANDBOX;

async function main(): Promise<void> {
  const { port, fresh } = readArguments();
  const dir = join(home, String(port));
  const begun = Date.now();
  let stack: Stack | undefined;
  let stopping = false;

  const stop = async () => {
    if (stopping) {
      say('still stopping; the engines need a moment to write their data');
      return;
    }
    stopping = true;
    say('\nstopping');
    // Not up yet: the engines watch this process and end with it.
    await stack?.stop();
    say('stopped; the data is kept, npm start goes on from here');
    process.exit(0);
  };
  process.on('SIGINT', () => void stop());
  process.on('SIGTERM', () => void stop());

  stack = await startStack({ dir, basePort: port, fresh, pace: humanePace, auditor: true, say });
  const accounts = await demoAccounts(stack, dir);
  writeSettings(stack, accounts, dir);
  say(welcome(stack, accounts, join(home, 'sandbox.json'), Date.now() - begun));
}

function readArguments(): { port: number; fresh: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string' },
        fresh: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) {
      say(usage);
      process.exit(0);
    }
    // eslint-disable-next-line no-restricted-syntax -- a port
    const port = /^\d+$/.test(values.port ?? '0') ? Number(values.port ?? DEFAULT_PORT) : Number.NaN;
    if (!(port >= 1_024 && port <= 65_500)) throw new Error('--port must be a number from 1024 to 65500');
    return { port, fresh: values.fresh === true };
  } catch (error) {
    process.stderr.write(`${reason(error)}\n\n${usage}`);
    process.exit(1);
  }
}

/** What scripts and testers read: the newest stack's facts in one known place, and beside its own data. */
function writeSettings(
  stack: Stack,
  accounts: readonly { name: string; token: string }[],
  dir: string,
): void {
  const facts = {
    url: stack.url,
    accounts: accounts.map(({ name, token }) => ({ name, token })),
    nodes: stack.nodes,
  };
  const operator = {
    gatewayDatabaseUrl: stack.settingsOf('gateway')['DATABASE_URL'],
    adminDatabaseUrl: stack.adminUrl,
    chains: stack.chainSettings,
    chainsBegan: { solana: stack.began.toISOString() },
    secretsFile: join(dir, 'secrets.json'),
  };
  for (const folder of [dir, dirname(dir)]) {
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of [
      ['sandbox.json', facts],
      ['operator.json', operator],
    ] as const) {
      writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    }
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`\nQuittance could not be started.\n${reason(error)}\n`);
  process.exit(1);
});
