import express from 'express';

/** The yardstick of a process that serves JSON: nothing but express. Started as `node bare-express.ts PORT`. */
const [, , port = ''] = process.argv;
const app = express();
app.use((_req, res) => void res.json({ status: 'ok' }));
// eslint-disable-next-line no-restricted-syntax -- a port
app.listen(Number(port), '127.0.0.1');
