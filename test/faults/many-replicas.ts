import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '@quittance/engines/free-port';
import { NATS_NODES } from '@quittance/engines/nats-cluster';
import type { Engine } from '@quittance/engines/process';
import { type Service, services } from '@quittance/shared/events';
import { processes } from '@quittance/stack/parts';
import { listeningServices } from '@quittance/stack/ports';
import { startServiceProcess } from '@quittance/stack/service-process';
import { checkAnswer } from '@quittance/testkit/documented-answers';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import type { Quittance, QuittanceOptions } from '@quittance/testkit/quittance';
import { type Balancer, startBalancer } from './balancer.ts';
import { type NatsCluster, natsCluster } from './nats-cluster.ts';
import { type PostgresPair, postgresPair } from './postgres-pair.ts';

/** As many as the chart starts without autoscaling. */
export const REPLICAS = {
  gateway: 3,
  invoices: 3,
  payouts: 2,
  ledger: 3,
  webhooks: 3,
  auditor: 2,
  signer: 2,
} as const satisfies Record<Service, number>;

/** More than all of them open together; `DATABASE_POOL` + 1 each, of the auditor + 3. */
const CONNECTIONS_OF_POSTGRES = 400;

/** One process of a service. */
export type ServiceReplica = {
  engine: Engine;
  port: number;
  /** What it asks the node of Ethereum through, where it asks one for the work of one replica. */
  node: FaultProxy | undefined;
};

export type Shared = {
  replicas: Record<Service, ServiceReplica[]>;
  /** Where merchants reach the gateways. */
  url: string;
  /** Ends what is no service. */
  close(): Promise<void>;
};

/**
 * A checkout of a former release, set up, in `UPGRADE_FROM`: all replicas run its code, on the schema of this one, until they are
 * upgraded. Each release that runs on today's schema may be given.
 */
const formerCheckout = process.env['UPGRADE_FROM'];
export const isUpgrade = formerCheckout !== undefined;

export type ManyReplicas = {
  postgres: PostgresPair;
  nats: NatsCluster;
  /** From now on a replica that is restarted runs the code of this checkout. */
  upgrade(): void;
  options: QuittanceOptions;
  /** Starts the other replicas of each service beside the stack's own. */
  start(quittance: Quittance): Promise<Shared>;
};

type StartService = typeof startServiceProcess;
const ROOT = join(import.meta.dirname, '../..');
const checkoutIn = (folder: string): URL => pathToFileURL(`${resolve(folder)}/`);

/** Several processes of every service on a cluster of NATS, and a Postgres with a synchronous standby. */
export function manyReplicas(): ManyReplicas {
  const [postgres, nats] = [postgresPair(), natsCluster()];
  let former = formerCheckout;
  const start: StartService = (options) =>
    startServiceProcess({ ...options, checkout: () => checkoutIn(former ?? ROOT) });
  return {
    postgres,
    nats,
    upgrade() {
      former = undefined;
    },
    options: {
      chains: [],
      redis: true,
      fixedFees: true,
      auditor: true,
      busAdmin: true,
      streamReplicas: NATS_NODES,
      parts: { ...processes, service: start, postgres: postgres.start, nats: nats.start },
      // Processes are killed and no power is cut: a standby has what was written, whether or not it is on a disk.
      postgresSettings: { synchronous_commit: 'on', max_connections: `${CONNECTIONS_OF_POSTGRES}` },
      settings: { gateway: { GATEWAY_REPLICAS: `${REPLICAS.gateway}` } },
    },
    start: (quittance) => startOthers(quittance, nats, start),
  };
}

/** Whose work of a chain only one replica does. */
const asksNodes: readonly Service[] = ['invoices', 'payouts'];

async function startOthers({ stack }: Quittance, nats: NatsCluster, start: StartService): Promise<Shared> {
  const closing: { close(): Promise<unknown> }[] = [];
  const places = await Promise.all(
    services.flatMap((service) =>
      Array.from({ length: REPLICAS[service] }, async (_, i) => {
        const own = service === 'signer' ? undefined : stack.ports[service];
        const node = asksNodes.includes(service)
          ? await startFaultProxy(stack.nodes.ethereum.rpc)
          : undefined;
        if (node !== undefined) closing.push(node);
        return {
          service,
          i,
          port: i === 0 ? own : service === 'signer' ? undefined : await freePort(),
          node,
        };
      }),
    ),
  );
  const balancers = {} as Record<Service, Balancer>;
  for (const service of listeningServices) {
    const ports = places.filter((one) => one.service === service).map(({ port = 0 }) => port);
    balancers[service] = await startBalancer(ports);
    closing.push(balancers[service]);
  }
  const behind = listeningServices.filter((service) => service !== 'gateway');
  const urls = Object.fromEntries(behind.map((one) => [`${one.toUpperCase()}_URL`, balancers[one].url]));

  const started = await Promise.all(
    places.map(async ({ service, i, port, node }) => {
      const settings = stack.settingsOf(service);
      const more = {
        ...(service === 'gateway' ? urls : {}),
        ...(node === undefined ? {} : { ETHEREUM_RPC_URL: node.url }),
        ...(settings['NATS_URL'] === undefined ? {} : { NATS_URL: atNode(settings['NATS_URL'], nats, i) }),
      };
      const engine = i === 0 ? stack.services[service] : undefined;
      if (engine !== undefined) {
        Object.assign(settings, more);
        await engine.restart();
      }
      const env = { ...settings, ...more, ...(port === undefined ? {} : { PORT: `${port}` }) };
      const logDir = join(dirname(stack.pricesFile), 'logs');
      return {
        service,
        replica: {
          engine: engine ?? (await start({ service, port, env, logDir })),
          port: port ?? 0,
          node,
        },
      };
    }),
  );
  const replicas = {} as Shared['replicas'];
  for (const service of services)
    replicas[service] = started.filter((one) => one.service === service).map(({ replica }) => replica);
  return {
    replicas,
    url: balancers.gateway.url,
    close: async () => void (await Promise.all(closing.map((one) => one.close()))),
  };
}

/** Any node leads a client to the others, once it has connected. */
function atNode(url: string, { nodes }: NatsCluster, i: number): string {
  const own = new URL(url);
  own.host = new URL(nodes[i % nodes.length]?.url ?? '').host;
  return own.href;
}

/** What became of what a merchant asked: how many payouts got each answer, 0 where there was none. */
export type PayoutAnswers = Map<number, number>;

const READ_TRIES = 3;

/**
 * A merchant before a load balancer. A connection that a gateway refuses goes to the next one. What only reads is sent
 * again where its connection broke before the answer, as nginx and Envoy do; whatever else broke off is left to the
 * merchant. An answer is an answer, also 503.
 */
export function balanced(
  url: string,
  { id, token }: Merchant,
  { clientLog }: Quittance,
  payoutAnswers: PayoutAnswers,
): Merchant {
  const one = merchant(url, id, token, undefined, clientLog, checkAnswer);
  return {
    ...one,
    async get(path) {
      for (let tries = 1; ; tries++) {
        try {
          return await one.get(path);
        } catch (error) {
          if (tries === READ_TRIES) throw error;
        }
      }
    },
    async post(path, body, headers) {
      if (path !== '/api/payouts') return await one.post(path, body, headers);
      const count = (status: number) => payoutAnswers.set(status, (payoutAnswers.get(status) ?? 0) + 1);
      try {
        const answer = await one.post(path, body, headers);
        count(answer.status);
        return answer;
      } catch (error) {
        count(0);
        throw error;
      }
    },
  };
}
