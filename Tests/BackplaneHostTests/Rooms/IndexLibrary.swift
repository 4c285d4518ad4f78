import CBackplane
import Glibc

/// The functions of the toolchain's `libIndexStore.so` that read what the compiler recorded of a build.
///
/// Its C interface is stable. No header of it comes with the toolchain, so they are looked up by name.
struct IndexLibrary {
    typealias Object = UnsafeMutableRawPointer
    /// Text of the library, a pointer and a length: the layout of `bp_bytes`.
    typealias Text = bp_bytes
    typealias EachText = @convention(c) (_ context: UnsafeMutableRawPointer?, Text) -> Bool
    typealias EachObject = @convention(c) (_ context: UnsafeMutableRawPointer?, Object?) -> Bool
    typealias Objects = @convention(c) (Object, _ context: UnsafeMutableRawPointer?, EachObject) -> Bool
    typealias Open = @convention(c) (Object, UnsafePointer<CChar>, UnsafeMutablePointer<Object?>?) -> Object?
    typealias Close = @convention(c) (Object) -> Void
    typealias TextOf = @convention(c) (Object) -> Text

    let openStore: @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Object?>?) -> Object?
    let closeStore: Close
    let units: @convention(c) (Object, _ sorted: UInt32, _ context: UnsafeMutableRawPointer?, EachText) -> Bool
    let openUnit: Open
    let closeUnit: Close
    let mainFile: TextOf
    let timeOfUnit:
        @convention(c) (Object, _ seconds: UnsafeMutablePointer<Int64>, _ nanoseconds: UnsafeMutablePointer<Int64>) ->
            Void
    let dependencies: Objects
    let kindOfDependency: @convention(c) (Object) -> UInt32
    let nameOfDependency: TextOf
    let pathOfDependency: TextOf
    let openRecord: Open
    let closeRecord: Close
    let occurrences: Objects
    let symbol: @convention(c) (Object) -> Object?
    let roles: @convention(c) (Object) -> UInt64
    let place:
        @convention(c) (Object, _ line: UnsafeMutablePointer<UInt32>, _ column: UnsafeMutablePointer<UInt32>) -> Void
    let nameOfSymbol: TextOf
    let identifierOfSymbol: TextOf

    /// The kind of a unit's dependency that is a record.
    static let recordKind: UInt32 = 2
    /// The roles of an occurrence that are asked for here.
    static let definition: UInt64 = 1 << 1
    static let reference: UInt64 = 1 << 2

    /// - Throws: ``Toolchain/Missing`` where the toolchain has no such library, or another interface.
    init(of toolchain: Toolchain) throws {
        let path = toolchain.folder + "/lib/libIndexStore.so"
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw Toolchain.Missing(
                description:
                    "the library that reads the compiler's index cannot be loaded: \(String(cString: dlerror()))")
        }
        func find<Function>(_ name: String, as _: Function.Type = Function.self) throws -> Function {
            guard let function = dlsym(library, "indexstore_" + name) else {
                throw Toolchain.Missing(description: "\(path) has no indexstore_\(name)")
            }
            return unsafeBitCast(function, to: Function.self)
        }
        openStore = try find("store_create")
        closeStore = try find("store_dispose")
        units = try find("store_units_apply_f")
        openUnit = try find("unit_reader_create")
        closeUnit = try find("unit_reader_dispose")
        mainFile = try find("unit_reader_get_main_file")
        timeOfUnit = try find("unit_reader_get_modification_time")
        dependencies = try find("unit_reader_dependencies_apply_f")
        kindOfDependency = try find("unit_dependency_get_kind")
        nameOfDependency = try find("unit_dependency_get_name")
        pathOfDependency = try find("unit_dependency_get_filepath")
        openRecord = try find("record_reader_create")
        closeRecord = try find("record_reader_dispose")
        occurrences = try find("record_reader_occurrences_apply_f")
        symbol = try find("occurrence_get_symbol")
        roles = try find("occurrence_get_roles")
        place = try find("occurrence_get_line_col")
        nameOfSymbol = try find("symbol_get_name")
        identifierOfSymbol = try find("symbol_get_usr")
    }

    /// Calls `body` with each object that `objects` finds in another one.
    func forEach(_ objects: Objects, of object: Object, _ body: (Object) -> Void) {
        withoutActuallyEscaping(body) { body in
            var body = body
            withUnsafeMutablePointer(to: &body) { context in
                _ = objects(object, context) { context, object in
                    if let object { context?.assumingMemoryBound(to: ((Object) -> Void).self).pointee(object) }
                    return true
                }
            }
        }
    }

    func unitNames(in store: Object) -> [String] {
        var names: [String] = []
        withUnsafeMutablePointer(to: &names) { names in
            _ = units(store, 0, names) { names, name in
                names?.assumingMemoryBound(to: [String].self).pointee.append(name.indexText)
                return true
            }
        }
        return names
    }
}

extension bp_bytes {
    var indexText: String { String(decoding: UnsafeRawBufferPointer(start: data, count: length), as: UTF8.self) }
}
