/*
 * What `medusa exec` runs once: a region whose customers pay with Quittance, a product, and the key of its storefront. The last
 * line that it prints is JSON.
 */
const { ContainerRegistrationKeys, Modules } = require('@medusajs/framework/utils');
const flows = require('@medusajs/medusa/core-flows');

exports.default = async function seed({ container }) {
  const run = async (workflow, input) => (await workflow(container).run({ input })).result;
  const [store] = await container.resolve(Modules.STORE).listStores();
  const [channel] = await run(flows.createSalesChannelsWorkflow, {
    salesChannelsData: [{ name: 'Web shop' }],
  });
  await run(flows.updateStoresWorkflow, {
    selector: { id: store.id },
    update: {
      supported_currencies: [{ currency_code: 'usd', is_default: true }],
      default_sales_channel_id: channel.id,
    },
  });
  const [region] = await run(flows.createRegionsWorkflow, {
    regions: [
      {
        name: 'United States',
        currency_code: 'usd',
        countries: ['us'],
        payment_providers: ['pp_quittance_quittance'],
      },
    ],
  });
  const [key] = await run(flows.createApiKeysWorkflow, {
    api_keys: [{ title: 'Storefront', type: 'publishable', created_by: '' }],
  });
  await run(flows.linkSalesChannelsToApiKeyWorkflow, { id: key.id, add: [channel.id] });
  const [product] = await run(flows.createProductsWorkflow, {
    products: [
      {
        title: 'A ticket',
        status: 'published',
        options: [{ title: 'Seat', values: ['Any'] }],
        variants: [
          {
            title: 'Any seat',
            options: { Seat: 'Any' },
            manage_inventory: false,
            prices: [{ amount: 25, currency_code: 'usd' }],
          },
        ],
        sales_channels: [{ id: channel.id }],
      },
    ],
  });
  container.resolve(ContainerRegistrationKeys.LOGGER).info('seeded');
  const seeded = { key: key.token, region: region.id, variant: product.variants[0].id };
  process.stdout.write(`\n${JSON.stringify(seeded)}\n`);
};
