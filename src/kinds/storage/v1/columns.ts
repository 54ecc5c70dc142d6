/**
 * What tables of storage kinds show. Texts name the service canonically, as everything does that a kind declares.
 */
import { orchDialect, serviceGroup } from '../../../meta/dialect.js';
import type { ApiObject } from '../../../meta/object.js';
import type { Column } from '../../columns.js';
import { ageColumn, countColumn, nameColumn, textColumn } from '../../shared/workload-columns.js';
import type { CSIDriver } from './csi-driver.js';
import type { CSINode } from './csi-node.js';
import type { StorageClass } from './storage-class.js';
import type { VolumeAttachment } from './volume-attachment.js';

const UNSET = '<unset>';

const service = `${orchDialect.name.charAt(0).toUpperCase()}${orchDialect.name.slice(1)}`;
const context = (name: string) => `"csi.${serviceGroup('storage')}/${name}"`;

const driver = (object: ApiObject) => (object as unknown as CSIDriver).spec;
const storageClass = (object: ApiObject) => object as unknown as StorageClass;
const attachment = (object: ApiObject) => object as unknown as VolumeAttachment;

function flagColumn(name: string, description: string, cell: (object: ApiObject) => boolean): Column {
  return { name, type: 'boolean', description, cell };
}

export const csiDriverColumns: readonly Column[] = [
  nameColumn,
  flagColumn(
    'AttachRequired',
    `attachRequired indicates this CSI volume driver requires an attach operation (because it implements the CSI ControllerPublishVolume() method), and that the ${service} attach detach controller should call the attach volume interface which checks the volumeattachment status and waits until the volume is attached before proceeding to mounting. The CSI external-attacher coordinates with CSI volume driver and updates the volumeattachment status when the attach operation is complete. If the CSIDriverRegistry feature gate is enabled and the value is specified to false, the attach operation will be skipped. Otherwise the attach operation will be called.\n\nThis field is immutable.`,
    (object) => driver(object).attachRequired,
  ),
  flagColumn(
    'PodInfoOnMount',
    `podInfoOnMount indicates this CSI volume driver requires additional pod information (like podName, podUID, etc.) during mount operations, if set to true. If set to false, pod information will not be passed on mount. Default is false.\n\nThe CSI driver specifies podInfoOnMount as part of driver deployment. If true, Kubelet will pass pod information as VolumeContext in the CSI NodePublishVolume() calls. The CSI driver is responsible for parsing and validating the information passed in as VolumeContext.\n\nThe following VolumeContext will be passed if podInfoOnMount is set to true. This list might grow, but the prefix will be used. ${context('pod.name')}: pod.Name ${context('pod.namespace')}: pod.Namespace ${context('pod.uid')}: string(pod.UID) ${context('ephemeral')}: "true" if the volume is an ephemeral inline volume\n                                defined by a CSIVolumeSource, otherwise "false"\n\n${context('ephemeral')} is a new feature in ${service} 1.16. It is only required for drivers which support both the "Persistent" and "Ephemeral" VolumeLifecycleMode. Other drivers can leave pod info disabled and/or ignore this field. As ${service} 1.15 doesn't support this field, drivers can only support one mode when deployed on such a cluster and the deployment determines which mode that is, for example via a command line parameter of the driver.\n\nThis field was immutable in ${service} < 1.29 and now is mutable.`,
    (object) => driver(object).podInfoOnMount,
  ),
  flagColumn(
    'StorageCapacity',
    `storageCapacity indicates that the CSI volume driver wants pod scheduling to consider the storage capacity that the driver deployment will report by creating CSIStorageCapacity objects with capacity information, if set to true.\n\nThe check can be enabled immediately when deploying a driver. In that case, provisioning new volumes with late binding will pause until the driver deployment has published some suitable CSIStorageCapacity object.\n\nAlternatively, the driver can be deployed with the field unset or false and it can be flipped later when storage capacity information has been published.\n\nThis field was immutable in ${service} <= 1.22 and now is mutable.`,
    (object) => driver(object).storageCapacity,
  ),
  textColumn(
    'TokenRequests',
    `tokenRequests indicates the CSI driver needs pods' service account tokens it is mounting volume for to do necessary authentication. Kubelet will pass the tokens in VolumeContext in the CSI NodePublishVolume calls. The CSI driver should parse and validate the following VolumeContext: ${context('serviceAccount.tokens')}: {\n  "<audience>": {\n    "token": <token>,\n    "expirationTimestamp": <expiration timestamp in RFC3339>,\n  },\n  ...\n}\n\nNote: Audience in each TokenRequest should be different and at most one token is empty string. To receive a new token after expiry, RequiresRepublish can be used to trigger NodePublishVolume periodically.`,
    (object) =>
      driver(object)
        .tokenRequests?.map(({ audience }) => audience)
        .join(',') ?? UNSET,
  ),
  flagColumn(
    'RequiresRepublish',
    'requiresRepublish indicates the CSI driver wants `NodePublishVolume` being periodically called to reflect any possible change in the mounted volume. This field defaults to false.\n\nNote: After a successful initial NodePublishVolume call, subsequent calls to NodePublishVolume should only update the contents of the volume. New mount points will not be seen by a running container.',
    (object) => driver(object).requiresRepublish,
  ),
  textColumn(
    'Modes',
    `volumeLifecycleModes defines what kind of volumes this CSI volume driver supports. The default if the list is empty is "Persistent", which is the usage defined by the CSI specification and implemented in ${service} via the usual PV/PVC mechanism.\n\nThe other mode is "Ephemeral". In this mode, volumes are defined inline inside the pod spec with CSIVolumeSource and their lifecycle is tied to the lifecycle of that pod. A driver has to be aware of this because it is only going to get a NodePublishVolume call for such a volume.\n\nFor more information about implementing this mode, see https://${service.toLowerCase()}-csi.github.io/docs/ephemeral-local-volumes.html A driver can support one or more of these modes and more modes may be added in the future.\n\nThis field is beta. This field is immutable.`,
    (object) => driver(object).volumeLifecycleModes.join(','),
  ),
  ageColumn,
];

export const csiNodeColumns: readonly Column[] = [
  nameColumn,
  countColumn(
    'Drivers',
    'Drivers indicates the number of CSI drivers registered on the node',
    (object) => (object as unknown as CSINode).spec.drivers?.length ?? 0,
  ),
  ageColumn,
];

export const storageClassColumns: readonly Column[] = [
  nameColumn,
  textColumn(
    'Provisioner',
    'provisioner indicates the type of the provisioner.',
    (object) => storageClass(object).provisioner,
  ),
  textColumn(
    'ReclaimPolicy',
    'reclaimPolicy controls the reclaimPolicy for dynamically provisioned PersistentVolumes of this storage class. Defaults to Delete.',
    (object) => storageClass(object).reclaimPolicy,
  ),
  textColumn(
    'VolumeBindingMode',
    'volumeBindingMode indicates how PersistentVolumeClaims should be provisioned and bound.  When unset, VolumeBindingImmediate is used. This field is only honored by servers that enable the VolumeScheduling feature.',
    (object) => storageClass(object).volumeBindingMode,
  ),
  textColumn(
    'AllowVolumeExpansion',
    'allowVolumeExpansion shows whether the storage class allow volume expand.',
    (object) => storageClass(object).allowVolumeExpansion ?? false,
  ),
  ageColumn,
];

export const volumeAttachmentColumns: readonly Column[] = [
  nameColumn,
  textColumn(
    'Attacher',
    'attacher indicates the name of the volume driver that MUST handle this request. This is the name returned by GetPluginName().',
    (object) => attachment(object).spec.attacher,
  ),
  textColumn(
    'PV',
    'source represents the volume that should be attached.',
    (object) => attachment(object).spec.source.persistentVolumeName ?? '',
  ),
  textColumn(
    'Node',
    'nodeName represents the node that the volume should be attached to.',
    (object) => attachment(object).spec.nodeName,
  ),
  flagColumn(
    'Attached',
    'attached indicates the volume is successfully attached. This field must only be set by the entity completing the attach operation, i.e. the external-attacher.',
    (object) => attachment(object).status.attached,
  ),
  ageColumn,
];

export const volumeAttributesClassColumns: readonly Column[] = [
  nameColumn,
  textColumn('DriverName', 'Name of the CSI driver', (object) => object['driverName']),
  ageColumn,
];
