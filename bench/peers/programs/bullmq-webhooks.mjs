// A worker of BullMQ that signs and posts what stands in its queue; ten attempts, as ours. REDIS_PORT says where.
import { Worker } from 'bullmq';
import { signAndPost } from './sign-and-post.mjs';

const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null };
const worker = new Worker('webhooks', (job) => signAndPost(job.data), { connection, concurrency: 64 });
worker.on('error', (error) => process.stderr.write(`${error}\n`));
await worker.waitUntilReady();
process.stdout.write('ready\n');
process.on('SIGTERM', () => void worker.close().then(() => process.exit(0)));
