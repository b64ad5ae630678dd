import type { Chain } from '@quittance/shared/assets';
import { sleep } from '@quittance/shared/clock';
import { ConfigError } from '@quittance/shared/config';
import { type Logger, reason } from '@quittance/shared/logger';
import { type ChainReader, WrongNetwork } from './chain.ts';

/** A node that does not answer within this at the start of a service is one that is away. */
const START_TIMEOUT_MS = 3_000;

/** Asks a chain's node for its network. */
export type NetworkCheck = {
  /**
   * Throws WrongNetwork when the node is not on the configured network, and whatever else when it is away. It is asked each time:
   * what answers under its address may be another one since.
   */
  check: ChainReader['check'];
  /** For `/readyz`: names the setting when the node was last found to be on another network. */
  lacks(): string | undefined;
};

const settingOf = (chain: Chain): string => `${chain.toUpperCase()}_RPC_URL`;

/** What an operator does about a node that is on another network. */
export const remedyOf = (chain: Chain): string =>
  `correct ${settingOf(chain)}, or the settings of the network`;

/** @param checked the chain's reader or sender */
export function networkCheck({ chain, check }: Pick<ChainReader, 'chain' | 'check'>): NetworkCheck {
  let isWrong = false;
  return {
    async check(of) {
      try {
        await check(of);
        isWrong = false;
      } catch (error) {
        isWrong = error instanceof WrongNetwork;
        throw error;
      }
    },
    lacks: () => (isWrong ? `the right network behind ${settingOf(chain)}` : undefined),
  };
}

/**
 * At the start of a service: throws ConfigError with every node that is on another network than the configured one.
 * One that is away is waited for, and asked again before it is believed anything.
 */
export async function refuseWrongNetworks(
  service: string,
  checks: ReadonlyMap<Chain, Pick<NetworkCheck, 'check'>>,
  logger: Logger,
): Promise<void> {
  const problems = await Promise.all(
    [...checks].map(async ([chain, network]): Promise<string[]> => {
      const answered = new AbortController();
      try {
        await Promise.race([network.check(), tooLong(answered.signal)]);
        return [];
      } catch (error) {
        if (error instanceof WrongNetwork) return [`${settingOf(chain)}: ${error.message}`];
        logger.warn({ chain, reason: reason(error) }, 'the node is away, it is waited for');
        return [];
      } finally {
        answered.abort();
      }
    }),
  );
  if (problems.flat().length > 0) throw new ConfigError(service, problems.flat());
}

async function tooLong(answered: AbortSignal): Promise<never> {
  await sleep(START_TIMEOUT_MS, answered);
  throw new Error('no answer');
}
