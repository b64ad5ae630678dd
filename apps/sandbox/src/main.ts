import { parseArgs } from 'node:util';
import { reason } from '@quittance/shared/logger';
import { humanePace } from '@quittance/stack/chain-nodes';
import { DEFAULT_PORT, PORTS } from '@quittance/stack/ports';
import { CHECKOUT_SANDBOX } from 'quittance/sandbox-folder';
import { runSandbox } from './run-sandbox.ts';

const usage = `npm start -- [--port N] [--fresh]

  --port N   move the whole stack: it takes N and the ${PORTS - 1} ports after it (default ${DEFAULT_PORT})
  --fresh    throw away what an earlier start on this port left: balances, chains, accounts
`;

const say = (line: string) => process.stdout.write(`${line}\n`);
/** `.sandbox` in the checkout; SANDBOX_DIR keeps a test's stack out of a person's. */
const home = process.env['SANDBOX_DIR'] ?? CHECKOUT_SANDBOX;

async function main(): Promise<void> {
  const { port, fresh } = readArguments();
  await runSandbox({
    home,
    port,
    fresh,
    pace: humanePace,
    payCommand: 'npm run pay --',
    goodbye: 'stopped; the data is kept, npm start goes on from here',
  });
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

main().catch((error: unknown) => {
  process.stderr.write(`\nQuittance could not be started.\n${reason(error)}\n`);
  process.exit(1);
});
