import type { Service } from '@quittance/shared/events';
import type { z } from 'zod';
import { configSchema as auditor } from '../services/auditor/src/config.ts';
import { configSchema as gateway } from '../services/gateway/src/config.ts';
import { configSchema as invoices } from '../services/invoices/src/config.ts';
import { configSchema as ledger } from '../services/ledger/src/config.ts';
import { configSchema as payouts } from '../services/payouts/src/config.ts';
import { configSchema as signer } from '../services/signer/src/config.ts';
import { configSchema as webhooks } from '../services/webhooks/src/config.ts';

/** The settings of each service. */
export const serviceSchemas: Record<Service, z.ZodType> = {
  ...{ auditor, gateway, invoices, ledger, payouts, signer, webhooks },
};
