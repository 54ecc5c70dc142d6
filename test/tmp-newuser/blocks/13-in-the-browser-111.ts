// vite.worker.config.ts
export default {
  publicDir: false,
  define: { 'process.env.NODE_ENV': '"production"' }, // a library leaves it to its users, and a worker has no process
  build: {
    emptyOutDir: false, // the page is there already
    lib: { entry: 'worker.ts', formats: ['iife'], name: 'worker', fileName: () => 'worker.js' },
  },
};
export {};
