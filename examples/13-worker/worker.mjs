/** The worker: a cluster with its controllers, behind a port. */
import { workerData } from 'node:worker_threads';
import { createCluster } from 'orchplane';
import { controllers, stages, standardControllers } from 'orchplane/controllers';
import { createFetchHandler } from 'orchplane/http';
import { answerPort } from './port-fetch.mjs';

const cluster = createCluster({ controllers: controllers([...standardControllers(), stages()]) });
answerPort(workerData.port, createFetchHandler(cluster));
