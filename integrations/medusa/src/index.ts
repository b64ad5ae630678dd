import { QuittancePaymentProvider } from './provider.ts';

export type { ClaimLink, QuittanceOptions } from './provider.ts';
export { QuittancePaymentProvider };

const forMedusa: { module: 'payment'; services: (typeof QuittancePaymentProvider)[] } = {
  module: 'payment',
  services: [QuittancePaymentProvider],
};
// biome-ignore lint/style/noDefaultExport: Medusa loads it, as its ModuleProvider(Modules.PAYMENT, …) returns it
export default forMedusa;
