import type { Service } from '@quittance/shared/events';
import { serviceUrl } from '@quittance/shared/migrate';
import type { Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';

export type Surroundings = {
  ports: Ports;
  secrets: Secrets;
  publicUrl: string;
  /** A superuser's URL of the database that all services share, each with a schema and a role of its own. */
  adminUrl: string;
  natsUrl: string;
  redisUrl: string | undefined;
  pricesFile: string;
  ethereum: { rpcUrl: string; chainId: number; usdc: string; xpub: string };
};

type Settings = Record<string, string>;

/** The environment each service is started with: the same settings an operator gives it in production. */
export function serviceSettings(around: Surroundings): Record<Service, Settings> {
  const { ports, secrets, ethereum } = around;
  const common = (service: Service): Settings => ({
    HOST: '127.0.0.1',
    PORT: String(ports[service]),
    DATABASE_URL: serviceUrl(around.adminUrl, service, secrets.databasePassword),
    NATS_URL: around.natsUrl,
    IDENTITY_SECRET: secrets.identitySecret,
    PUBLIC_URL: around.publicUrl,
  });
  const node = {
    ETHEREUM_RPC_URL: ethereum.rpcUrl,
    ETHEREUM_CHAIN_ID: String(ethereum.chainId),
    ETHEREUM_USDC_ADDRESS: ethereum.usdc,
  };
  const at = (service: Service) => `http://127.0.0.1:${ports[service]}`;
  return {
    gateway: {
      ...common('gateway'),
      ...(around.redisUrl === undefined ? {} : { REDIS_URL: around.redisUrl }),
      INVOICES_URL: at('invoices'),
      PAYOUTS_URL: at('payouts'),
      LEDGER_URL: at('ledger'),
      WEBHOOKS_URL: at('webhooks'),
    },
    invoices: { ...common('invoices'), ...node, ETHEREUM_XPUB: ethereum.xpub },
    payouts: { ...common('payouts'), ...node, WALLET_SEED: secrets.walletSeed },
    ledger: { ...common('ledger'), PRICES: `file:${around.pricesFile}`, QUOTES_EVERY_MS: '1000' },
    webhooks: {
      ...common('webhooks'),
      WEBHOOK_SECRETS_KEY: secrets.webhookSecretsKey,
      ALLOW_INSECURE_ENDPOINTS: 'true',
    },
  };
}
