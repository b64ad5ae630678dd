import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openWallet } from '@quittance/chains/evm/wallet';
import { freePort } from '@quittance/engines/free-port';
import { type Bus, connectBus } from '@quittance/shared/bus';
import type { BusUser } from '@quittance/shared/bus-connection';
import { createLogger } from '@quittance/shared/logger';
import { listeningServices } from '@quittance/stack/ports';
import { putBetween } from '@quittance/testkit/between';
import { eventually } from '@quittance/testkit/eventually';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { type AlertWatch, startAlertWatch } from './alert-watch.ts';
import { type Mining, mineAllTheTime } from './mining.ts';
import { type RepeatingNode, startRepeatingNode } from './repeating-node.ts';
import { startUnwillingMailServer, type UnwillingMailServer } from './unwilling-mail-server.ts';

const CLI = join(import.meta.dirname, '../../apps/cli/bin/quittance.mjs');
const BLOCK_EVERY_MS = 300;
const CHECK_EVERY_MS = '2000';
/** A dollar amount of which there is enough to pay out from. */
const SALE_DOLLARS = 5_000;
const PAID_WITHIN_MS = 30_000;
const NODES = 3;
const logger = createLogger('alerts', 'silent');

/** Everything that the alerts are about, in order, and what can be broken of it. */
export type AlertFixture = {
  quittance: Quittance;
  /** Whose customer has paid. */
  shop: Merchant;
  hotAddress: string;
  mining: Mining;
  /** Of Ethereum, between the node and the ways of invoices. */
  node: RepeatingNode;
  /** What invoices takes for three nodes, and the node of payouts and the auditor. */
  ways: { invoices: readonly FaultProxy[]; others: FaultProxy };
  mail: UnwillingMailServer;
  receiver: Receiver;
  watch: AlertWatch;
  /** Asks the node of Ethereum for something that only a test may ask for. */
  rpc(method: string, ...params: unknown[]): Promise<unknown>;
  /** Runs `quittance` as an operator does. */
  command(...args: string[]): Promise<void>;
  /** Connected to NATS as a service. */
  as<T>(user: BusUser, use: (bus: Bus) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export async function openAlertFixture(programs: string): Promise<AlertFixture> {
  const [mail, receiver, metricsPort] = await Promise.all([
    startUnwillingMailServer(),
    startReceiver(),
    freePort(),
  ]);
  const quittance = await startQuittance({
    auditor: true,
    redis: true,
    chains: [],
    confirmations: 2,
    fixedFees: true,
    // In the end money is missing, or has come from nowhere: that is what some alerts are about.
    checkBooks: false,
    checkAnswers: false,
    settings: {
      gateway: { METRICS_PORT: String(metricsPort), FAILED_AUTH_PER_MINUTE: '10' },
      webhooks: { SMTP_URL: `smtp://127.0.0.1:${mail.port}` },
      auditor: { CHECK_EVERY_MS, CHAINS_EVERY_MS: CHECK_EVERY_MS, GRACE_PERIOD_SECONDS: '5' },
    },
  });
  const { stack, ethereum } = quittance;
  const nodeUrl = stack.nodes.ethereum.rpc;
  const node = await startRepeatingNode(nodeUrl);
  const invoices = await Promise.all(Array.from({ length: NODES }, () => startFaultProxy(node.url)));
  const ways = { invoices, others: await startFaultProxy(nodeUrl) };
  const between = { setting: 'ETHEREUM_RPC_URL', through: ways.others.through };
  await putBetween(quittance, [
    { ...between, service: 'invoices', through: () => invoices.map(({ url }) => url).join(',') },
    { ...between, service: 'payouts' },
    { ...between, service: 'auditor' },
  ]);
  receiver.answer((response, { path }) => {
    if (path === '/failing') response.writeHead(500).end();
  });
  const mining = mineAllTheTime(() => ethereum.mine(1), BLOCK_EVERY_MS);
  const ports = Object.fromEntries(listeningServices.map((one) => [one, stack.ports[one]]));
  const watch = await startAlertWatch(programs, {
    installation: stack.url,
    ports: { ...ports, gateway: metricsPort },
  });
  return {
    ...{ quittance, mining, node, ways, mail, receiver, watch },
    shop: await paidShop(quittance),
    hotAddress: openWallet(stack.secrets.walletSeed).hotAddress,
    async rpc(method, ...params) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(nodeUrl, { method: 'POST', headers, body });
      const { result, error } = (await answer.json()) as { result?: unknown; error?: unknown };
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
      return result;
    },
    async command(...args) {
      const env = { DATABASE_URL_ADMIN: stack.adminUrl, ...stack.chainSettings };
      await promisify(execFile)(process.execPath, [CLI, ...args], { env });
    },
    async as(user, use) {
      const bus = await connectBus({ url: stack.busUrl(user), service: user as never, logger });
      try {
        return await use(bus);
      } finally {
        await bus.close();
      }
    },
    async close() {
      await watch.stop();
      await mining.stop();
      await quittance.stop();
      await Promise.all([...invoices, ways.others, node, mail, receiver].map((one) => one.close()));
    },
  };
}

async function paidShop({ merchant, ethereum }: Quittance): Promise<Merchant> {
  const shop = await merchant('shop');
  const { body } = await shop.post('/api/invoices', { asset: 'ETH', amount: SALE_DOLLARS });
  await ethereum.pay('ETH', body.data.address.address, body.data.amount);
  await eventually(async () => {
    const { body: invoice } = await shop.get(`/api/invoices/${body.data.id}`);
    if (invoice.status !== 'paid') throw new Error(`the invoice is ${invoice.status}`);
  }, PAID_WITHIN_MS);
  return shop;
}
