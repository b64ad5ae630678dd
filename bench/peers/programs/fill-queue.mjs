// Puts the jobs of its input, a JSON array, into the queue of BullMQ (REDIS_PORT) or pg-boss (DATABASE_URL).
import { text } from 'node:stream/consumers';

const jobs = JSON.parse(await text(process.stdin));
const { REDIS_PORT, DATABASE_URL } = process.env;
if (REDIS_PORT !== undefined) {
  const { Queue } = await import('bullmq');
  const queue = new Queue('webhooks', { connection: { host: '127.0.0.1', port: Number(REDIS_PORT) } });
  const opts = { attempts: 10, backoff: { type: 'exponential', delay: 1_000 }, removeOnComplete: true };
  for (let from = 0; from < jobs.length; from += 1_000)
    await queue.addBulk(jobs.slice(from, from + 1_000).map((data) => ({ name: 'post', data, opts })));
  await queue.close();
} else {
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({ connectionString: DATABASE_URL, supervise: false, schedule: false });
  await boss.start();
  for (let from = 0; from < jobs.length; from += 1_000)
    await boss.insert(
      'webhooks',
      jobs.slice(from, from + 1_000).map((data) => ({ data })),
    );
  await boss.stop({ graceful: false });
}
process.exit(0);
