import { hash, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { systemClock } from '@quittance/shared/clock';
import { createApp } from '@quittance/shared/http';
import { listen } from '@quittance/shared/http-server';
import { createLogger } from '@quittance/shared/logger';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';

/**
 * The yardstick of a gateway: a known token's hash, a limit counted in Redis, a proxy over kept connections;
 * nothing else. Started as `node gateway.ts PORT UPSTREAM_URL REDIS_URL`.
 */
const [, , port = '', upstream = '', redisUrl = ''] = process.argv;
const limiter = new RateLimiterRedis({
  storeClient: new Redis(redisUrl),
  points: 1_000_000_000,
  duration: 60,
  keyPrefix: 'stub',
});
const known = new Set([hash('sha256', 'token', 'hex')]);
const proxy = createProxyMiddleware({
  target: upstream,
  agent: new Agent({ keepAlive: true, maxSockets: 128, maxFreeSockets: 64, scheduling: 'lifo' }),
});
const app = createApp({
  logger: createLogger('stub', 'silent'),
  clock: systemClock,
  waitsFor: async () => [],
});
app.use(async (req, res, next) => {
  const token = req.headers.authorization?.slice('Bearer '.length) ?? '';
  const key = hash('sha256', token, 'hex');
  if (!known.has(key)) {
    res.writeHead(401).end();
    return;
  }
  const { remainingPoints } = await limiter.consume(key);
  res.setHeader('X-RateLimit-Remaining', remainingPoints);
  req.headers['x-request-id'] = randomUUID();
  next();
});
app.use(proxy);
// eslint-disable-next-line no-restricted-syntax -- a port
await listen(app, '127.0.0.1', Number(port));
