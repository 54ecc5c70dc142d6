const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ wholeCoreMs: (user + system) / 1000 }));
