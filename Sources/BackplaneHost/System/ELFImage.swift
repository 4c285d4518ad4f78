import CBackplaneHost
import Glibc

/// The tables that describe a shared library, read from its file without trusting them.
///
/// An image exists only for a library that is complete and built for this machine: its headers, segments and sections
/// are inside the file, so that a truncated or half-written library is noticed. The contents of a complete file are not
/// judged. No code of the library runs.
///
/// Layouts and numbers are those of the System V ABI, chapters 4 and 5 (`elf.h`).
package struct ELFImage: Sendable {
    struct Section: Sendable {
        /// The beginning of the name, as long as any name that is searched for.
        let name: String
        let type: UInt32
        /// The range of its bytes in the file; empty if there are none.
        let range: Range<Int>
        /// The address at which the loader places the bytes, before it adds the library's base.
        let address: UInt64
        /// The number of the section with the names, for a table of symbols.
        let link: Int

        static let wholeSymbols: UInt32 = 2, names: UInt32 = 3, dynamic: UInt32 = 6, dynamicSymbols: UInt32 = 11

        /// Returns whether sections of a type have bytes in the file: SHT_NULL has none at all, SHT_NOBITS only memory.
        static func isInFile(_ type: UInt32) -> Bool { type != 0 && type != 8 }
    }

    /// The reasons why bytes are not a library for this process.
    package enum Defect: Error, Sendable, Hashable {
        /// Bytes that are not an ELF file.
        case notELF
        /// An ELF file that is not a shared library, with the type in `e_type`.
        case notLibrary(type: UInt16)
        /// A library for another processor, word size or byte order.
        case wrongMachine(found: String)
        /// A truncated or incomplete file, with a description of the missing part.
        case damaged(String)
    }

    private let file: Contents
    let sections: [Section]
    /// The ranges of the file that the loader maps.
    let loaded: [Range<Int>]

    /// Creates an image from a file; only the tables are read now, and other parts when they are requested.
    package init(of file: consuming FileDescriptor, size: Int) throws(Defect) {
        let contents = Contents(file, size: size)
        self.file = contents
        guard size >= 4, try contents.bytes(0, 4, "the mark of the file") == Array("\u{7F}ELF".utf8) else {
            throw .notELF
        }
        let header = try contents.bytes(0, 64, "the file header")
        guard header[4] == 2 else { throw .wrongMachine(found: "32-bit") }
        guard header[5] == 1 else { throw .wrongMachine(found: "big-endian") }
        let machine: UInt16 = header.number(18), type: UInt16 = header.number(16)
        guard machine == Self.machine.number else { throw .wrongMachine(found: Self.name(ofMachine: machine)) }
        guard type == 3 /* ET_DYN */ else { throw .notLibrary(type: type) }
        loaded = try Self.loaded(header, contents)
        sections = try Self.sections(header, contents)
    }

    private static func loaded(_ header: [UInt8], _ file: Contents) throws(Defect) -> [Range<Int>] {
        let count = Int(header.number(56, as: UInt16.self))
        guard count > 0 else { throw .damaged("it has no segments") }
        guard header.number(54, as: UInt16.self) == 56 else {
            throw .damaged("its segment entries have an unknown size")
        }
        let table = try file.bytes(header.number(32), UInt64(count * 56), "the table of \(count) segments")
        var loaded: [Range<Int>] = []
        for number in 0..<count {
            let entry = number * 56
            let range = try file.range(table.number(entry + 8), table.number(entry + 32), "segment \(number)")
            if table.number(entry, as: UInt32.self) == 1 /* PT_LOAD */ { loaded.append(range) }
        }
        return loaded
    }

    private static func sections(_ header: [UInt8], _ file: Contents) throws(Defect) -> [Section] {
        let start: UInt64 = header.number(40), count = Int(header.number(60, as: UInt16.self))
        if start == 0 || count == 0 { return [] }
        guard header.number(58, as: UInt16.self) == 64 else {
            throw .damaged("its section entries have an unknown size")
        }
        let table = try file.bytes(start, UInt64(count * 64), "the table of \(count) sections")
        func range(_ number: Int) throws(Defect) -> Range<Int> {
            guard Section.isInFile(table.number(number * 64 + 4)) else { return 0..<0 }
            return try file.range(table.number(number * 64 + 24), table.number(number * 64 + 32), "section \(number)")
        }
        // Linkers write the names last, so a file without them is incomplete.
        let last = Int(header.number(62, as: UInt16.self))
        guard last < count, table.number(last * 64 + 4) == Section.names else {
            throw .damaged("the names of its sections are missing")
        }
        let names = try file.bytes(in: range(last)), end = names.lastIndex(of: 0) ?? -1
        var sections: [Section] = []
        for number in 0..<count {
            let entry = number * 64, name = Int(table.number(entry, as: UInt32.self))
            guard name <= end else { throw .damaged("a section's name lies outside the table of names") }
            sections.append(
                Section(
                    name: names.text(at: name, longest: 64), type: table.number(entry + 4), range: try range(number),
                    address: table.number(entry + 16), link: Int(table.number(entry + 40, as: UInt32.self))))
        }
        return sections
    }

    /// Returns the bytes of the section called `name`; `nil` if there is none, or none with bytes in the file.
    package func section(named name: String) -> [UInt8]? {
        range(ofSection: name).flatMap { try? file.bytes(in: $0) }
    }

    /// Returns the range in the file of the section called `name`; `nil` if it has none.
    func range(ofSection name: String) -> Range<Int>? {
        sections.first { $0.name == name && Section.isInFile($0.type) }?.range
    }

    /// Whether the image contains Swift code.
    ///
    /// SwiftPM adds the sections of Swift's metadata to every product; they are empty in one without Swift code.
    package var hasSwift: Bool { sections.contains { !$0.range.isEmpty && $0.name.hasPrefix("swift5_") } }

    /// Returns the pages of the file that no segment maps, such as symbols, debug information and tables for tools.
    func unmapped(pageSize: Int = Int(getpagesize())) -> [Range<Int>] {
        loaded.map {
            $0.lowerBound / pageSize * pageSize..<($0.upperBound + pageSize - 1) / pageSize * pageSize
        }.gaps(upTo: file.size)
    }

    /// An entry of a table of symbols.
    private struct Symbol {
        let name: Int
        let info, visibility: UInt8
        let isDefined: Bool
        let address: UInt64

        init(_ table: [UInt8], at offset: Int) {
            name = Int(table.number(offset, as: UInt32.self))
            (info, visibility) = (table[offset + 4], table[offset + 5] & 3)
            isDefined = table.number(offset + 6, as: UInt16.self) != 0  // SHN_UNDEF
            address = table.number(offset + 8)
        }

        /// Whether the symbol is a function that another library can call.
        var isExportedFunction: Bool {
            let isFunction = info & 0xF == 2  // STT_FUNC
            let isShared = info >> 4 == 1 || info >> 4 == 2  // STB_GLOBAL, STB_WEAK
            return isDefined && isFunction && isShared && (visibility == 0 || visibility == 3)  // DEFAULT, PROTECTED
        }

        /// Whether another library's symbol of the same name may replace it.
        var isInterposable: Bool { isDefined && info >> 4 != 0 /* STB_LOCAL */ && visibility == 0 /* STV_DEFAULT */ }
    }

    /// Returns the bytes of the first section of a type, and the bytes of the names to which it refers.
    private func table(_ type: UInt32) -> (entries: [UInt8], names: [UInt8])? {
        guard let table = sections.first(where: { $0.type == type }), sections.indices.contains(table.link),
            let entries = try? file.bytes(in: table.range), let names = try? file.bytes(in: sections[table.link].range)
        else { return nil }
        return (entries, names)
    }

    /// Calls `body` with each symbol of a table and the bytes of the names, until it returns `false`.
    private func forEachSymbol(_ type: UInt32, _ body: (Symbol, [UInt8]) -> Bool) {
        guard let (entries, names) = table(type) else { return }
        for offset in stride(from: 0, through: entries.count - 24, by: 24) {
            if !body(Symbol(entries, at: offset), names) { return }
        }
    }

    /// Returns whether the library itself defines and exports the function `name`; a mere reference does not count.
    ///
    /// It reads the dynamic symbol table, which a stripped library still has.
    package func defines(symbol name: String) -> Bool {
        let name = Array(name.utf8) + [0]
        var isDefined = false
        forEachSymbol(Section.dynamicSymbols) { symbol, names in
            isDefined =
                symbol.isExportedFunction && symbol.name < names.count && names[symbol.name...].starts(with: name)
            return !isDefined
        }
        return isDefined
    }

    private static let mostListed = 1_000

    /// The defined symbols that may replace, or be replaced by, another library's symbols of the same name.
    ///
    /// Symbols that linkers add to every library are omitted. Swift exports its symbols as protected, which binds them
    /// to their own library.
    package var interposable: [String] {
        var found: [String] = []
        forEachSymbol(Section.dynamicSymbols) { symbol, names in
            guard symbol.isInterposable else { return true }
            let name = names.text(at: symbol.name)
            if !Self.ofLinkers.contains(name) { found.append(name) }
            return found.count < Self.mostListed
        }
        return found.sorted()
    }

    private static let ofLinkers: Set = [
        "", "_init", "_fini", "_edata", "_end", "__bss_start", "_etext", "edata", "end", "etext",
    ]

    /// Returns the texts of the dynamic table with one of some tags, in order.
    private func texts(_ tags: UInt64...) -> [String] {
        guard let (entries, names) = table(Section.dynamic) else { return [] }
        var texts: [String] = []
        for offset in stride(from: 0, through: entries.count - 16, by: 16) where texts.count < Self.mostListed {
            guard tags.contains(entries.number(offset)) else { continue }
            texts.append(names.text(at: Int(clamping: entries.number(offset + 8, as: UInt64.self))))
        }
        return texts
    }

    /// A library that is loaded with this one, and that belongs neither to the toolchain nor to the system.
    package struct Stranger: Sendable, Hashable {
        package let name: String
        /// The path at which the loader finds it, or `nil` if that depends on the environment.
        package let path: String?
    }

    /// The strangers among the libraries that this one needs.
    package var strangers: [Stranger] {
        let folders = texts(15 /* DT_RPATH */, 29 /* DT_RUNPATH */).flatMap {
            $0.split(separator: ":").map(String.init)
        }
        return texts(1 /* DT_NEEDED */).compactMap { name in
            if !name.contains("/"), Self.isOfToolchain(name) { return nil }
            // A copy of this library is loaded, without other files beside it, so `$ORIGIN` leads nowhere.
            let path =
                name.hasPrefix("/")
                ? name : folders.filter { $0.hasPrefix("/") }.map { FilePath.join($0, name) }.first(where: Self.isFile)
            if let path, Self.ofSystem.contains(FilePath.folder(of: path)) { return nil }
            if path == nil, Self.ofSystem.contains(where: { Self.isFile(FilePath.join($0, name)) }) { return nil }
            return Stranger(name: name, path: path)
        }
    }

    private static func isFile(_ path: String) -> Bool { access(path, R_OK) == 0 }

    /// The folders of the system's libraries, which are not part of a build.
    private static let ofSystem: [String] = {
        #if arch(x86_64)
        let machine = "x86_64-linux-gnu"
        #else
        let machine = "aarch64-linux-gnu"
        #endif
        return ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].flatMap { [$0, "\($0)/\(machine)"] }
    }()

    /// Returns whether a library is part of every process that uses Swift, or only C, by its full name.
    private static func isOfToolchain(_ name: String) -> Bool {
        guard let stem = name.wholeMatch(of: /([^.]+)\.so(\.\d+)*/)?.output.1 else {
            return name.hasPrefix("libclang_rt.")
        }
        return ofToolchain.contains(String(stem))
    }

    private static let ofToolchain: Set = [
        // The libraries of glibc and the compilers.
        "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libmvec", "libdl", "libpthread", "librt", "libutil",
        "libresolv", "libanl", "libgcc_s", "libstdc++", "libc++", "libc++abi",
        // The libraries of the toolchain's lib/swift/linux for programs, without those for tests and tools.
        "libBlocksRuntime", "libFoundation", "libFoundationEssentials", "libFoundationInternationalization",
        "libFoundationNetworking", "libFoundationXML", "lib_FoundationICU", "libdispatch", "libswiftCore",
        "libswiftDispatch", "libswiftDistributed", "libswiftGlibc", "libswiftObservation", "libswiftRegexBuilder",
        "libswiftRuntime", "libswiftSwiftOnoneSupport", "libswiftSynchronization", "libswift_Builtin_float",
        "libswift_Concurrency", "libswift_Differentiation", "libswift_RegexParser", "libswift_StringProcessing",
        "libswift_Volatile",
    ]

    /// The parts of the library that a swap does not replace, each as a sentence without its subject.
    ///
    /// The loader keeps one copy of them for the whole process: strangers that it finds by an absolute path, and C++
    /// statics that a compiler has marked as unique. Statics of the standard library are constants, and do not count.
    package var lasting: [String] {
        var statics: [String] = []
        // Only GNU's C++ compiler marks such statics, so a Swift library's thousands of symbols are read only if it was
        // used.
        if !hasSwift || texts(1 /* DT_NEEDED */).contains(where: { $0.hasPrefix("libstdc++.") }) {
            forEachSymbol(Section.dynamicSymbols) { symbol, names in
                guard symbol.isDefined, symbol.info >> 4 == 10 /* STB_GNU_UNIQUE */ else { return true }
                let name = names.text(at: symbol.name)
                if name.prefixMatch(of: /_Z(GV)?(N|ZN)K?S[a-z]/) == nil { statics.append(name) }
                return statics.count < Self.mostListed
            }
        }
        let values = statics.first.map { first in
            "keeps using the values of the C++ static `\(first)`"
                + (statics.count > 1 ? " and of \(statics.count - 1) more" : "")
                + ", which all generations share; compile with -fno-gnu-unique, or hide its symbols"
        }
        let libraries = strangers.compactMap { stranger in
            stranger.path.map {
                "keeps using \($0) as it was loaded first, even if that has been rebuilt; link it into the plugin"
            }
        }
        return [values].compactMap(\.self) + libraries
    }

    /// Returns the conformances whose module declares neither the type nor the protocol, as written in code.
    ///
    /// The layouts are those of the Swift runtime's protocol conformance descriptors (`MetadataValues.h`,
    /// `ConformanceFlags`).
    package func retroactiveConformances() throws(Defect) -> [String] {
        guard let section = sections.first(where: { $0.name == "swift5_protocol_conformances" }) else { return [] }
        let records = try file.bytes(in: section.range), isRetroactive: UInt32 = 1 << 6
        var descriptors: Set<UInt64> = []
        for record in stride(from: 0, through: records.count - 4, by: 4) where descriptors.count < Self.mostListed {
            let distance = Int64(records.number(record, as: Int32.self))
            let descriptor = section.address &+ UInt64(record) &+ UInt64(bitPattern: distance)
            guard let flags = try bytes(at: descriptor &+ 12, count: 4) else { continue }
            if flags.number(0, as: UInt32.self) & isRetroactive != 0 { descriptors.insert(descriptor) }
        }
        if descriptors.isEmpty { return [] }
        var found: [UInt64: String] = [:]
        for table in [Section.wholeSymbols, Section.dynamicSymbols] {
            forEachSymbol(table) { symbol, names in
                if symbol.isDefined, descriptors.contains(symbol.address) {
                    let name = Self.demangled(names.text(at: symbol.name))
                    if let text = name?.split(separator: "protocol conformance descriptor for ").last {
                        found[symbol.address] = String(text.prefix(200))
                    }
                }
                return true
            }
        }
        return descriptors.map { found[$0] ?? "one without a symbol" }.sorted()
    }

    /// Returns bytes at an address in memory; `nil` if no section of the file has them.
    private func bytes(at address: UInt64, count: Int) throws(Defect) -> [UInt8]? {
        for section in sections where address >= section.address {
            let offset = address - section.address
            guard offset < UInt64(section.range.count), Int(offset) + count <= section.range.count else { continue }
            let start = section.range.lowerBound + Int(offset)
            return try file.bytes(in: start..<start + count)
        }
        return nil
    }

    private static func demangled(_ name: String) -> String? {
        guard name.hasPrefix("$s"), let text = swift_demangle(name, name.utf8.count, nil, nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    package static var machine: (number: UInt16, name: String) {
        #if arch(x86_64)
        (62, "x86-64")
        #elseif arch(arm64)
        (183, "aarch64")
        #else
        #error("the ELF machine number of this processor is not known here")
        #endif
    }

    private static func name(ofMachine number: UInt16) -> String {
        switch number {
        case 3: "x86 (32-bit)"
        case 40: "ARM (32-bit)"
        case 62: "x86-64"
        case 183: "aarch64"
        case 243: "RISC-V"
        default: "machine number \(number)"
        }
    }
}

/// The bytes of a file, which are read when they are needed.
private final class Contents: Sendable {
    let size: Int
    private let file: FileDescriptor

    init(_ file: consuming FileDescriptor, size: Int) {
        self.size = size
        self.file = file
    }

    /// Returns the range of `count` bytes at an offset, which must lie inside the file.
    func range(_ offset: UInt64, _ count: UInt64, _ what: @autoclosure () -> String) throws(ELFImage.Defect)
        -> Range<Int>
    {
        let (end, overflow) = offset.addingReportingOverflow(count)
        guard !overflow, end <= UInt64(size) else {
            let needed = overflow ? "beyond any file" : "at byte \(end)"
            throw .damaged("\(what()) would end \(needed), the file has \(size)")
        }
        return Int(offset)..<Int(end)
    }

    func bytes(_ offset: UInt64, _ count: UInt64, _ what: @autoclosure () -> String) throws(ELFImage.Defect) -> [UInt8]
    {
        try bytes(in: range(offset, count, what()))
    }

    func bytes(in range: Range<Int>) throws(ELFImage.Defect) -> [UInt8] {
        let read: [UInt8]
        do throws(SystemError) {
            read = try file.bytes(in: range)
        } catch {
            throw .damaged("it cannot be read: \(error)")
        }
        guard read.count == range.count else { throw .damaged("it has become shorter while it was read") }
        return read
    }
}

extension [UInt8] {
    /// Returns a little-endian number; the caller has checked the offset.
    fileprivate func number<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type = Number.self) -> Number {
        withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }

    /// Returns the zero-terminated name at an offset in untrusted bytes, or its beginning; empty outside them.
    ///
    /// A table can name the same long text thousands of times. Mangled names of 1,000 bytes are common.
    fileprivate func text(at offset: Int, longest: Int = 4_096) -> String {
        guard offset < count else { return "" }
        return String(decoding: self[offset...].prefix(longest).prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension [Range<Int>] {
    /// Returns the ranges between, before and after ranges of a file, which may overlap.
    func gaps(upTo size: Int) -> [Range<Int>] {
        var gaps: [Range<Int>] = [], end = 0
        for next in sorted(by: { $0.lowerBound < $1.lowerBound }) where !next.isEmpty {
            if end < next.lowerBound { gaps.append(end..<next.lowerBound) }
            end = Swift.max(end, next.upperBound)
        }
        return end < size ? gaps + [end..<size] : gaps
    }
}
