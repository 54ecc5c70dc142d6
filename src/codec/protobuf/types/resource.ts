/** Message types of the group `resource`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const resource: GroupTypes = {
  name: 'resource',
  group: serviceGroup('resource'),
  versions: [
    {
      version: 'v1beta2',
      kinds: 'DeviceClass+ ResourceClaim+ ResourceClaimTemplate+ ResourceSlice+',
      types: `
AllocatedDeviceStatus driver pool device conditions[]:Condition data*:RawExtension networkData*:NetworkDeviceData
AllocationResult devices:DeviceAllocationResult nodeSelector=3*:NodeSelector
CELDeviceSelector expression
Counter value:Quantity
CounterSet name counters{}:Counter
Device name attributes{}:DeviceAttribute capacity{}:DeviceCapacity consumesCounters[]:DeviceCounterConsumption
  nodeName* nodeSelector*:NodeSelector allNodes*:bool taints[]:DeviceTaint
DeviceAllocationConfiguration source requests[] :DeviceConfiguration
DeviceAllocationResult results[]:DeviceRequestAllocationResult config[]:DeviceAllocationConfiguration
DeviceAttribute int=2*:int64 bool*:bool string* version*
DeviceCapacity value:Quantity
DeviceClaim requests[]:DeviceRequest constraints[]:DeviceConstraint config[]:DeviceClaimConfiguration
DeviceClaimConfiguration requests[] :DeviceConfiguration
DeviceClass metadata:ObjectMeta spec:DeviceClassSpec
DeviceClassConfiguration :DeviceConfiguration
DeviceClassSpec selectors[]:DeviceSelector config[]:DeviceClassConfiguration
DeviceConfiguration opaque*:OpaqueDeviceConfiguration
DeviceConstraint requests[] matchAttribute*
DeviceCounterConsumption counterSet counters{}:Counter
DeviceRequest name exactly*:ExactDeviceRequest firstAvailable[]:DeviceSubRequest
DeviceRequestAllocationResult request driver pool device adminAccess*:bool tolerations[]:DeviceToleration
DeviceSelector cel*:CELDeviceSelector
DeviceSubRequest name deviceClassName selectors[]:DeviceSelector allocationMode count:int64
  tolerations[]:DeviceToleration
DeviceTaint key value effect timeAdded*:Time
DeviceToleration key operator value effect tolerationSeconds*:int64
ExactDeviceRequest deviceClassName selectors[]:DeviceSelector allocationMode count:int64 adminAccess*:bool
  tolerations[]:DeviceToleration
NetworkDeviceData interfaceName ips[] hardwareAddress
OpaqueDeviceConfiguration driver parameters:RawExtension
ResourceClaim metadata:ObjectMeta spec:ResourceClaimSpec status:ResourceClaimStatus
ResourceClaimConsumerReference apiGroup resource=3 name uid
ResourceClaimSpec devices:DeviceClaim
ResourceClaimStatus allocation*:AllocationResult reservedFor[]:ResourceClaimConsumerReference
  devices=4[]:AllocatedDeviceStatus
ResourceClaimTemplate metadata:ObjectMeta spec:ResourceClaimTemplateSpec
ResourceClaimTemplateSpec metadata:ObjectMeta spec:ResourceClaimSpec
ResourcePool name generation:int64 resourceSliceCount:int64
ResourceSlice metadata:ObjectMeta spec:ResourceSliceSpec
ResourceSliceSpec driver pool:ResourcePool nodeName* nodeSelector*:NodeSelector allNodes*:bool devices[]:Device
  perDeviceNodeSelection*:bool sharedCounters[]:CounterSet
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1beta2',
      kinds: 'DeviceClass+ ResourceClaim+ ResourceClaimTemplate+ ResourceSlice+',
      types: `
BasicDevice attributes{}:DeviceAttribute capacity{}:DeviceCapacity consumesCounters[]:DeviceCounterConsumption
  nodeName* nodeSelector*:NodeSelector allNodes*:bool taints[]:DeviceTaint
Device name basic*:BasicDevice
DeviceRequest name deviceClassName selectors[]:DeviceSelector allocationMode count:int64 adminAccess*:bool
  firstAvailable[]:DeviceSubRequest tolerations[]:DeviceToleration
DeviceSubRequest name deviceClassName selectors[]:DeviceSelector allocationMode count:int64
  tolerations=7[]:DeviceToleration
ResourceSliceSpec driver pool:ResourcePool nodeName nodeSelector*:NodeSelector allNodes:bool devices[]:Device
  perDeviceNodeSelection*:bool sharedCounters[]:CounterSet
      `,
    },
    {
      version: 'v1alpha3',
      like: 'v1beta2',
      kinds: 'DeviceClass+ DeviceTaintRule+ ResourceClaim+ ResourceClaimTemplate+ ResourceSlice+',
      types: `
BasicDevice attributes{}:DeviceAttribute capacity{}:Quantity consumesCounters[]:DeviceCounterConsumption nodeName*
  nodeSelector*:NodeSelector allNodes*:bool taints[]:DeviceTaint
Device name basic*:BasicDevice
DeviceRequest name deviceClassName selectors[]:DeviceSelector allocationMode count:int64 adminAccess*:bool
  firstAvailable[]:DeviceSubRequest tolerations[]:DeviceToleration
DeviceSubRequest name deviceClassName selectors[]:DeviceSelector allocationMode count:int64
  tolerations=7[]:DeviceToleration
DeviceTaintRule metadata:ObjectMeta spec:DeviceTaintRuleSpec
DeviceTaintRuleSpec deviceSelector*:DeviceTaintSelector taint:DeviceTaint
DeviceTaintSelector deviceClassName* driver* pool* device* selectors[]:DeviceSelector
ResourceSliceSpec driver pool:ResourcePool nodeName nodeSelector*:NodeSelector allNodes:bool devices[]:Device
  perDeviceNodeSelection*:bool sharedCounters[]:CounterSet
      `,
    },
  ],
};
