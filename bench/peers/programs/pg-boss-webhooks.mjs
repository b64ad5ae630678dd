// A worker of pg-boss that signs and posts what stands in its queue. DATABASE_URL says where.
import { PgBoss } from 'pg-boss';
import { signAndPost } from './sign-and-post.mjs';

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: 10 });
boss.on('error', (error) => process.stderr.write(`${error}\n`));
await boss.start();
await boss.createQueue('webhooks', { retryLimit: 10 });
const options = {
  batchSize: 200,
  pollingIntervalSeconds: 0.5,
  burstWhenBatchFull: true,
  localConcurrency: 2,
};
await boss.work('webhooks', options, async (jobs) => {
  await Promise.all(jobs.map((job) => signAndPost(job.data)));
});
process.stdout.write('ready\n');
process.on('SIGTERM', () => void boss.stop({ graceful: true }).then(() => process.exit(0)));
