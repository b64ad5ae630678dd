import { QuittancePaymentProvider } from './provider.ts';

export type { QuittanceOptions } from './provider.ts';
export { QuittancePaymentProvider };

// biome-ignore lint/style/noDefaultExport: Medusa loads the default export, as its ModuleProvider(Modules.PAYMENT, …) returns it
export default { module: 'payment', services: [QuittancePaymentProvider] };
