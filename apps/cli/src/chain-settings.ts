import { withChains } from '@quittance/chains/settings';
import { chainSettings } from '@quittance/chains/settings-schema';
import type { ReconciledChain } from '@quittance/reconciliation/chain-records';
import { ConfigError, loadConfig } from '@quittance/shared/config';
import { z } from 'zod';
import { findOperator, type Where } from './operator-file.ts';
import { CommandError } from './surroundings.ts';

const chainsSchema = withChains(z.object(chainSettings));

/** The chains that the records are compared with: the configured ones, otherwise the sandbox's. */
export function watchedChains(where: Where): ReconciledChain[] {
  const own = Object.entries(where.env).filter(([name]) => Object.hasOwn(chainSettings, name));
  const operator = own.length > 0 ? undefined : findOperator(where);
  try {
    const config = loadConfig('verify-books', chainsSchema, operator?.chains ?? Object.fromEntries(own));
    return config.chains.map((settings) => {
      const began = operator?.chainsBegan?.[settings.chain];
      return { settings, ...(began === undefined ? {} : { since: new Date(began) }) };
    });
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message);
    throw error;
  }
}
