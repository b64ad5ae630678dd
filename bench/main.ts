import { benchmarks } from './benchmarks.ts';
import { compareSides } from './compare-sides.ts';
import { openLab } from './lab.ts';
import { record, report, writeReadme } from './results.ts';

/**
 * npm run bench [NAME …]: each path of ours against its yardstick, in turn, in the same run. Results are appended to
 * bench/results, and the last ones stand in bench/README.md.
 */
const asked = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);
const unknown = asked.filter((name) => !benchmarks.some((one) => one.name === name));
const chosen = benchmarks.filter(({ name }) => asked.length === 0 || asked.includes(name));

if (unknown.length > 0) {
  say(`no benchmark named ${unknown.join(', ')}; there are:`);
  for (const { name, what } of benchmarks) say(`  ${name.padEnd(22)} ${what}`);
  process.exitCode = 1;
} else await run();

async function run(): Promise<void> {
  const lab = openLab();
  try {
    for (const benchmark of chosen) {
      say(`${benchmark.name}: ${benchmark.what} Against: ${benchmark.yardstick} …`);
      const sides = await benchmark.setUp(lab);
      try {
        say(report(record(benchmark, await compareSides(benchmark, sides))));
      } finally {
        await sides.close();
      }
    }
  } finally {
    writeReadme(benchmarks);
    await lab.close();
  }
}
