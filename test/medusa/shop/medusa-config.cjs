const { defineConfig } = require('@medusajs/framework/utils');

/** A shop as Medusa's own guide sets it up: all that differs is in the environment. */
module.exports = defineConfig({
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    databaseDriverOptions: { connection: { ssl: false } },
    http: {
      storeCors: '*',
      adminCors: '*',
      authCors: '*',
      jwtSecret: process.env.SECRET,
      cookieSecret: process.env.SECRET,
    },
  },
  admin: { disable: true },
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      options: {
        providers: [
          {
            resolve: '@quittance/medusa-payment',
            id: 'quittance',
            options: {
              url: process.env.QUITTANCE_URL,
              token: process.env.QUITTANCE_TOKEN,
              webhookSecret: process.env.QUITTANCE_WEBHOOK_SECRET,
            },
          },
        ],
      },
    },
  ],
});
