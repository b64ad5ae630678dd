import { type AssetSymbol, assetSymbols } from './assets.ts';
import { type Form, form } from './form.ts';
import { rules } from './validation.ts';

/** A sandbox answers it, and no service. */
export const TEST_PAYMENTS_PATH = '/api/sandbox/payments';

const ADDRESS_CHARACTERS_MAX = 255;

const fields = {
  asset: rules.oneOf(assetSymbols).required,
  address: rules.text(ADDRESS_CHARACTERS_MAX).required,
  amount: rules.number().required,
};

/** What a payment with test money may have. */
export const readTestPayment: Form<typeof fields> = form(fields);

/** What was paid with test money. */
export const testPaymentView = (payment: {
  asset: AssetSymbol;
  address: string;
  amount: string;
  txHash: string;
}) => ({
  asset: payment.asset,
  address: payment.address,
  amount: payment.amount,
  tx_hash: payment.txHash,
});
