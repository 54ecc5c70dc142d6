/**
 * The command `orchplane envtest`: writes the programs that envtest of controller-runtime starts.
 */
import { realpath } from 'node:fs/promises';
import process from 'node:process';
import { shellQuote, writeAssets } from '../envtest/assets.js';
import { defineCommand, UsageError } from './command.js';

export const command = defineCommand({
  usage: ['envtest DIR'],
  summary:
    'Writes kube-apiserver, etcd and kubectl for test suites in Go into a folder, and prints the shell command that sets KUBEBUILDER_ASSETS.',
  options: {},
  async run({ positionals }, { writeOut }) {
    const [folder, ...others] = positionals;
    if (folder === undefined || folder === '' || others.length > 0) throw new UsageError('envtest takes one folder');
    // npm starts the command through a link.
    const program = await realpath(process.argv[1] ?? '');
    const path = await writeAssets(folder, { node: process.execPath, program });
    writeOut(`export KUBEBUILDER_ASSETS=${shellQuote(path)}\n`);
    return 0;
  },
});
