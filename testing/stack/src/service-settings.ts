import { pathToFileURL } from 'node:url';
import { isBusUser } from '@quittance/shared/bus-permissions';
import type { Service } from '@quittance/shared/events';
import { publicKeyOf } from '@quittance/shared/gateway-keys';
import { serviceUrl } from '@quittance/shared/migrate';
import type { ListeningService, Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';

export type Surroundings = {
  ports: Ports;
  secrets: Secrets;
  publicUrl: string;
  /** A superuser's URL of the database that all services share, each with a schema and a role of its own. */
  adminUrl: string;
  /** The URL each service connects with: its own user. */
  busUrl(service: Service): string;
  redisUrl: string | undefined;
  pricesFile: string;
  /** Where e-mails are written to: none is sent. */
  mailFolder: string;
  chains: ChainSettings;
  /** When the stack was started: Solana's chain, and nothing before it, is as old as that. */
  began: Date;
};

export type Settings = Record<string, string>;

/**
 * What operators set of a chain: `node` for all who ask its node, `addresses` for who gives out addresses, `hotWallets` for
 * who pays from them.
 */
export type ChainSettings = {
  node: Settings;
  addresses: Settings;
  hotWallets: Settings;
  assets: readonly string[];
};

/** The environment each service is started with: the same settings an operator gives it in production. */
export function serviceSettings(around: Surroundings): Record<Service, Settings> {
  const { ports, secrets, chains } = around;
  const engines = (service: Service): Settings => ({
    DATABASE_URL: serviceUrl(around.adminUrl, service, secrets.databasePassword),
    ...(isBusUser(service) ? { NATS_URL: around.busUrl(service) } : {}),
  });
  const common = (service: ListeningService): Settings => ({
    ...engines(service),
    HOST: '127.0.0.1',
    PORT: String(ports[service]),
    PUBLIC_URL: around.publicUrl,
  });
  const behindGateway = (service: ListeningService): Settings => ({
    ...common(service),
    GATEWAY_PUBLIC_KEY: publicKeyOf(secrets.gatewayPrivateKey) ?? '',
  });
  const at = (service: ListeningService) => `http://127.0.0.1:${ports[service]}`;
  return {
    gateway: {
      ...common('gateway'),
      GATEWAY_PRIVATE_KEY: secrets.gatewayPrivateKey,
      // Of the sandbox and of tests alone.
      TOTP_SECRETS_KEY: secrets.webhookSecretsKey,
      ...(around.redisUrl === undefined ? {} : { REDIS_URL: around.redisUrl }),
      INVOICES_URL: at('invoices'),
      PAYOUTS_URL: at('payouts'),
      LEDGER_URL: at('ledger'),
      WEBHOOKS_URL: at('webhooks'),
      AUDITOR_URL: at('auditor'),
    },
    invoices: { ...behindGateway('invoices'), ...chains.node, ...chains.addresses },
    payouts: {
      ...behindGateway('payouts'),
      ...chains.node,
      ...chains.hotWallets,
      CLAIM_LINKS_SECRET: secrets.claimLinksSecret,
    },
    ledger: {
      ...behindGateway('ledger'),
      PRICES: `file:${around.pricesFile}`,
      QUOTES_EVERY_MS: '1000',
      ASSETS_ACTIVE: chains.assets.join(','),
    },
    webhooks: {
      ...behindGateway('webhooks'),
      WEBHOOK_SECRETS_KEY: secrets.webhookSecretsKey,
      WEBHOOKS_SIGNING_KEY: secrets.webhooksSigningKey,
      ALLOW_INSECURE_ENDPOINTS: 'true',
      SMTP_URL: pathToFileURL(around.mailFolder).href,
      MAIL_FROM: 'Quittance <payments@pay.example>',
    },
    signer: { ...engines('signer'), ...chains.node, WALLET_SEED: secrets.walletSeed },
    auditor: { ...behindGateway('auditor'), ...chains.node, SOLANA_BEGAN: around.began.toISOString() },
  };
}
