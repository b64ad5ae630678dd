import { QuittancePaymentProvider } from './provider.ts';

export type { QuittanceOptions } from './provider.ts';
export { QuittancePaymentProvider };

/** What `ModuleProvider(Modules.PAYMENT, { services })` of Medusa returns. */
export default { module: 'payment', services: [QuittancePaymentProvider] };
