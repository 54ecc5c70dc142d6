/** A cluster with the volume controllers, and helpers that create claims, volumes, classes and pods. */
import {
  claimProtection,
  controllers,
  ephemeralVolumes,
  garbageCollector,
  persistentVolumes,
  volumeProtection,
  volumeProvisioner,
} from 'orchplane/controllers';
import { Event, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';

export const MARKS = {
  completed: 'pv.orch.io/bind-completed',
  byController: 'pv.orch.io/bound-by-controller',
  provisionedBy: 'pv.orch.io/provisioned-by',
  provisioner: 'volume.orch.io/storage-provisioner',
  betaProvisioner: 'volume.beta.orch.io/storage-provisioner',
  selectedNode: 'volume.orch.io/selected-node',
  isDefault: 'storageclass.orch.io/is-default-class',
} as const;

export class VolumesSetting {
  readonly cluster: TestCluster = testCluster({
    controllers: controllers([
      persistentVolumes(),
      claimProtection(),
      volumeProtection(),
      ephemeralVolumes(),
      garbageCollector(),
      volumeProvisioner({ provisioners: ['example.com/disk'] }),
    ]),
  });

  settle = () => this.cluster.settle();

  async volume(name: string, size = '1Gi', spec: object = {}, metadata: object = {}) {
    return this.cluster.api(PersistentVolume).create({
      metadata: { name, ...metadata },
      spec: {
        capacity: { storage: size },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'slow',
        persistentVolumeReclaimPolicy: 'Retain',
        csi: { driver: 'd.example.com', volumeHandle: name },
        ...spec,
      },
    } as never);
  }

  /** Creates a volume with another source. */
  async plainVolume(name: string, source: object, spec: object = {}, metadata: object = {}) {
    return this.volume(name, '1Gi', { csi: undefined, ...source, ...spec }, metadata);
  }

  async claim(name: string, size = '1Gi', spec: object = {}, metadata: object = {}) {
    return this.cluster.api(PersistentVolumeClaim).create({
      metadata: { name, ...metadata },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'slow',
        resources: { requests: { storage: size } },
        ...spec,
      },
    } as never);
  }

  async storageClass(name: string, more: object = {}, metadata: object = {}) {
    return this.cluster.api(StorageClass).create({
      metadata: { name, ...metadata },
      provisioner: 'example.com/other',
      ...more,
    } as never);
  }

  async pod(name: string, claimName: string, spec: object = {}) {
    return this.cluster.api(Pod).create({
      metadata: { name },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
        ...spec,
      },
    } as never);
  }

  findVolume = (name: string) => this.cluster.api(PersistentVolume).find(name);
  findClaim = (name: string) => this.cluster.api(PersistentVolumeClaim).find(name);
  volumePhase = async (name: string) => (await this.findVolume(name))?.status.phase;
  claimPhase = async (name: string) => (await this.findClaim(name))?.status.phase;
  /** The name of the volume that a claim is bound to, after the cluster has settled. */
  boundVolume = async (name: string) => {
    await this.settle();
    return (await this.findClaim(name))?.spec.volumeName;
  };

  /** Reason and message of the events about an object. */
  async eventsOf(about: string): Promise<readonly (readonly [string | undefined, string | undefined])[]> {
    await this.settle();
    const { items } = await this.cluster.all(Event).list();
    return items
      .map((event) => event as unknown as { regarding: { name: string }; reason: string; note: string })
      .filter(({ regarding }) => regarding.name === about)
      .map(({ reason, note }) => [reason, note] as const);
  }
}
