import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import type { Engine } from '@quittance/engines/process';
import type { Service } from '@quittance/shared/events';
import { startServiceProcess } from '@quittance/stack/service-process';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { putBetween } from './between.ts';
import { type Mining, mineAllTheTime } from './mining.ts';

const STARTS_WITHIN_MS = 180_000;

type Replica = {
  engine: Engine;
  url: string;
  logDir: string;
  stop(): Promise<void>;
};

/** A process of payouts: its way to the node, and how many lines of its log say something. */
export type PayoutsProcess = { engine: Engine; node: FaultProxy; said(text: string): number };

/** A stack with two processes of every service that decides about money. It is empty until the first test. */
export type Replicated = {
  quittance: Quittance;
  /** The second process of each. */
  replicas: Record<'payouts' | 'ledger' | 'webhooks' | 'gateway', Replica>;
  payouts: readonly [PayoutsProcess, PayoutsProcess];
};

export function replicated(): Replicated {
  const on = {} as Replicated;
  let mining: Mining | undefined;
  beforeAll(async () => {
    const quittance = await startQuittance({ chains: [], fixedFees: true, quiet: true });
    on.quittance = quittance;
    const { stack } = quittance;
    const nodeOfOwn = await startFaultProxy(stack.nodes.ethereum.rpc);
    const nodeOfSecond = await startFaultProxy(stack.nodes.ethereum.rpc);
    const setting = 'ETHEREUM_RPC_URL';
    await putBetween(quittance, [{ service: 'payouts', setting, through: () => nodeOfOwn.url }]);
    const [payouts, ledger, webhooks] = await Promise.all([
      startReplica(quittance, 'payouts', { [setting]: nodeOfSecond.url }),
      startReplica(quittance, 'ledger'),
      startReplica(quittance, 'webhooks'),
    ]);
    const upstreams = { PAYOUTS_URL: payouts.url, LEDGER_URL: ledger.url, WEBHOOKS_URL: webhooks.url };
    const gateway = await startReplica(quittance, 'gateway', upstreams);
    on.replicas = { payouts, ledger, webhooks, gateway };
    const logs = join(dirname(stack.pricesFile), 'logs');
    on.payouts = [
      { engine: stack.services.payouts, node: nodeOfOwn, said: saidIn(logs, /^payouts/) },
      { engine: payouts.engine, node: nodeOfSecond, said: saidIn(payouts.logDir) },
    ];
    mining = mineAllTheTime(() => quittance.ethereum.mine(), 100);
  }, patient(STARTS_WITHIN_MS));
  afterAll(async () => {
    await mining?.stop();
    for (const { engine } of on.payouts ?? []) engine.resume();
    for (const replica of Object.values(on.replicas ?? {})) await replica.stop();
    await on.quittance?.stop();
    for (const { node } of on.payouts ?? []) await node.close();
  }, patient(STARTS_WITHIN_MS));
  return on;
}

const saidIn =
  (folder: string, files = /./) =>
  (text: string) =>
    readdirSync(folder)
      .filter((file) => files.test(file))
      .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
      .filter((line) => line.includes(text)).length;

/** One more process of a service beside the stack's own, with the same settings but for those given. */
async function startReplica(
  { stack }: Quittance,
  service: Service,
  settings: Readonly<Record<string, string>> = {},
): Promise<Replica> {
  const port = await freePort();
  const logDir = mkdtempSync(join(tmpdir(), `quittance-${service}-`));
  const env = { ...stack.settingsOf(service), ...settings, PORT: String(port) };
  const engine = await startServiceProcess({ service, port, env, logDir });
  return {
    engine,
    url: `http://127.0.0.1:${port}`,
    logDir,
    async stop() {
      await engine.stop();
      rmSync(logDir, { recursive: true, force: true });
    },
  };
}
