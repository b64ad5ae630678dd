import express from 'express';

// The yardstick of a process that serves JSON: nothing but express, and no types to strip. Started as `node bare-express.mjs PORT`.
const [, , port = ''] = process.argv;
const app = express();
app.use((_req, res) => void res.json({ status: 'ok' }));
app.listen(Number(port), '127.0.0.1');
