import Backplane
import BackplaneBoundary
import CBackplane

/// The functions of `backplane.operations/1`.
let operationFunctions = bp_operations_1(
    size: UInt32(MemoryLayout<bp_operations_1>.size), reserved: 0,
    begin: { handle, operation in
        guard let component = ComponentHandles.find(handle), component.role != .dataAccessController else { return 0 }
        return component.graphs.begin(read(operation), of: handle) { component.isClosed }
    },
    end: { handle, number in ComponentHandles.find(handle)?.graphs.end(number, of: handle) },
    define: { handle, definition in
        guard let component = ComponentHandles.find(handle), component.role != .dataAccessController else { return 0 }
        return component.graphs.define(read(definition), of: handle) { component.isClosed }
    })
