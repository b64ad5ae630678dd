import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Listening } from '@quittance/shared/http-server';
import type { Pace } from '@quittance/stack/chain-nodes';
import { portsFrom } from '@quittance/stack/ports';
import { type Stack, type StackOptions, startStack } from '@quittance/stack/stack';
import { demoAccounts } from './demo-accounts.ts';
import { demoPerson } from './demo-person.ts';
import { serveTestMoneyOf, testMoneyUrl } from './test-money.ts';
import { welcome } from './welcome.ts';

export type SandboxOptions = {
  /** Where sandbox.json is; the data is in a folder below it that the port names. */
  home: string;
  port: number;
  pace: Pace;
  fresh?: boolean;
  /** Settings of services over those of the sandbox. */
  settings?: NonNullable<StackOptions['settings']>;
  /** What a person types to pay an invoice. */
  payCommand: string;
  /** Said when everything has ended in order. */
  goodbye: string;
};

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Runs all of Quittance until this process is told to end. Returns when it is ready. */
export async function runSandbox(options: SandboxOptions): Promise<Stack> {
  const { home, port, fresh = false, pace, settings = {} } = options;
  const testMoneyPort = portsFrom(port).sandbox;
  const dir = join(home, String(port));
  const begun = Date.now();
  let stack: Stack | undefined;
  let testMoney: Listening | undefined;
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
    await testMoney?.close(0);
    say(options.goodbye);
    process.exit(0);
  };
  process.on('SIGINT', () => void stop());
  process.on('SIGTERM', () => void stop());

  const gateway = { SANDBOX_URL: testMoneyUrl(testMoneyPort), ...settings.gateway };
  stack = await startStack({
    ...{ dir, basePort: port, publicHost: 'localhost', fresh, pace, auditor: true, say },
    settings: { ...settings, gateway },
  });
  testMoney = await serveTestMoneyOf(stack, testMoneyPort);
  const accounts = await demoAccounts(stack, dir);
  const person = await demoPerson(stack, accounts[0]?.id ?? '', dir);
  writeSettings(stack, accounts, dir);
  const settingsFile = join(home, 'sandbox.json');
  const { payCommand } = options;
  say(welcome(stack, { accounts, person, settingsFile, payCommand, tookMs: Date.now() - begun }));
  return stack;
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
