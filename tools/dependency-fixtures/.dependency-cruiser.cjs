// The rules of the whole tree, applied to this folder, which they leave out otherwise.
const rules = require('../../.dependency-cruiser.cjs');

module.exports = { ...rules, options: { ...rules.options, exclude: { path: 'node_modules' } } };
