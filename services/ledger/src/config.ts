import { type AssetSymbol, isAssetSymbol } from '@quittance/shared/assets';
import { milliseconds, serviceSettings } from '@quittance/shared/config';
import { z } from 'zod';

const PUBLIC = 'public';

export const configSchema = z.object({
  ...serviceSettings,
  PRICES: z
    .string()
    .regex(/^(file:\/.+|public)$/, 'must be public or file:/path/to/prices.json')
    .transform((text) =>
      text === PUBLIC
        ? ({ from: 'public' } as const)
        : ({ from: 'file', path: text.slice('file:'.length) } as const),
    )
    .meta({
      format: '`public` or `file:/path`',
      description:
        'Where exchange rates come from: `public` takes the median of several exchanges, `file:` and an absolute path reads a JSON table of US dollars for one unit of each asset and currency.',
    }),
  QUOTES_EVERY_MS: milliseconds.default(15_000).describe('How often rates and network fees are updated.'),
  ASSETS_ACTIVE: z
    .string()
    .default('BTC,ETH,USDC_ERC20,SOL,USDC_SOL')
    .transform((text, context) => {
      const symbols = text.split(',').map((symbol) => symbol.trim());
      const unknown = symbols.filter((symbol) => !isAssetSymbol(symbol));
      if (unknown.length === 0) return symbols as AssetSymbol[];
      context.addIssue({ code: 'custom', message: `knows no asset ${unknown.join(', ')}` });
      return z.NEVER;
    })
    .meta({
      format: 'list of asset symbols',
      description:
        'The assets that merchants may use. An asset also needs its chain to be switched on. Assets that are removed from the list keep their balances.',
    }),
  UNPROVEN_HOLDS_UNTIL: z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-01-31T00:00:00Z' })
    .transform((text) => new Date(text))
    .optional()
    .meta({
      format: 'time, such as `2026-01-31T00:00:00Z`',
      description:
        'For an upgrade only: until then the ledger also holds money for payouts without the request of a merchant, as those of automatic payouts and claim links that a former release has stored. Until then a compromised payouts service can do the same.',
    }),
  MIN_CONFIRMATIONS: z
    .string()
    .default('')
    .transform((text, context) => {
      const chosen = new Map<AssetSymbol, number>();
      for (const part of text.split(',').map((one) => one.trim())) {
        if (part === '') continue;
        const [, symbol = '', count = ''] = /^(\w+)=([1-9]\d{0,3})$/.exec(part) ?? [];
        // eslint-disable-next-line no-restricted-syntax -- a count of blocks
        if (isAssetSymbol(symbol) && !chosen.has(symbol)) chosen.set(symbol, Number(count));
        else
          context.addIssue({
            code: 'custom',
            message: `${JSON.stringify(part)} is not an asset, given once, and its number of blocks: BTC=2,ETH=12`,
          });
      }
      return chosen;
    })
    .meta({
      format: 'list of `SYMBOL=blocks`',
      description:
        'How many confirmations a deposit needs before it is credited, for assets that need another number than the built-in one: `BTC=2,ETH=12`.',
    }),
});

export type LedgerConfig = z.infer<typeof configSchema>;
