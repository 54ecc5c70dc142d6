/**
 * Runs one section in its own process, so that sections do not affect each other:
 * `node --expose-gc section.mjs NAME SETTINGS`, with the settings as JSON. Prints its rows as JSON.
 */
import process from 'node:process';

const SECTIONS = {
  start: async () => (await import('./processes.mjs')).coldStart,
  heap: async () => (await import('./processes.mjs')).heapPerObject,
  operations: async () => (await import('./operations.mjs')).operations,
  apply: async () => (await import('./apply.mjs')).applies,
  watch: async () => (await import('./watch.mjs')).watchFanOut,
  fork: async () => (await import('./fork.mjs')).forks,
  http: async () => (await import('./http.mjs')).http,
  wire: async () => (await import('./wire.mjs')).wire,
  custom: async () => (await import('./custom.mjs')).customKinds,
  access: async () => (await import('./access.mjs')).access,
  journal: async () => (await import('./journal.mjs')).journals,
  controllers: async () => (await import('./controllers.mjs')).controllersAtWork,
  controller: async () => (await import('./controllers.mjs')).controllerAtWork,
};

const [name, settings] = process.argv.slice(2);
const section = await SECTIONS[name]();
console.log(JSON.stringify(await section(JSON.parse(settings))));
