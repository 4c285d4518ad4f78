extension ELFImage {
    /// Returns the modules that use `Bundle.module`, which crashes the process if the build folder does not exist.
    ///
    /// SwiftPM compiles that accessor into every target with resources, used or not, so only references from other code
    /// count. They are detected only in x86-64 code.
    package func usersOfResourceBundles() throws(Defect) -> [String] {
        let accessors = accessors()
        guard !accessors.isEmpty, Self.machine.number == 62,
            let text = section(called: ".text")?.range,
            let start = try segments().address(of: text.lowerBound)
        else { return [] }
        let own = accessors.map { $0.address..<$0.address + max($0.size, 1) }
        let modules = Dictionary(accessors.map { ($0.address, $0.module) }) { first, _ in first }
        var users: Set<String> = []
        bytes.withBytes(in: text) { code in
            for index in 0..<max(0, code.count - 5) {
                let displacement: Int
                switch code[index] {
                case 0xE8, 0xE9: displacement = index + 1  // call, jmp
                case 0x8D where code[index + 1] & 0xC7 == 0x05: displacement = index + 2  // lea, RIP-relative
                default: continue
                }
                guard displacement + 4 <= code.count else { continue }
                let distance = Int64(code.loadUnaligned(fromByteOffset: displacement, as: Int32.self))
                let target = start &+ UInt64(displacement + 4) &+ UInt64(bitPattern: distance)
                guard let module = modules[target] else { continue }
                let place = start &+ UInt64(index)
                if !own.contains(where: { $0.contains(place) }) { users.insert(module) }
            }
        }
        return users.sorted()
    }

    private struct Accessor {
        let module: String
        let address, size: UInt64
    }

    /// Returns the functions that SwiftPM generates for `Bundle.module`: the getter, the addressor and the initialiser.
    private func accessors() -> [Accessor] {
        var accessors: [Accessor] = []
        forEachSymbol(in: .whole) { entry, names in
            guard entry.kind == .function, entry.address != 0, entry.size < 1 << 20,
                !entry.address.addingReportingOverflow(max(entry.size, 1)).overflow,
                accessors.count < Self.mostListed, names.hasPrefix("$s10Foundation6BundleC", at: entry.name),
                let name = try? names.text(at: entry.name), let end = name.firstRange(of: "E6module")?.lowerBound
            else { return }
            // An extension's name begins with its length: 15BookshelfModule.
            accessors.append(
                Accessor(
                    module: String(name[..<end].dropFirst(22).drop { $0.isNumber }), address: entry.address,
                    size: entry.size))
        }
        return accessors
    }
}
