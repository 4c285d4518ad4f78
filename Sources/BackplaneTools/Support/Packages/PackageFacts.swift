package import Backplane

/// The contents of a Package.swift: the required part of `swift package dump-package`.
package struct PackageFacts: Sendable, Hashable, Decodable {
    package var name: String
    package var products: [Product]
    package var targets: [PackageTarget]
    /// The absolute paths of the local packages on which it depends.
    package var neighbours: [String]
    /// The tools version of its first line.
    package var toolsVersion: Version

    package struct Product: Sendable, Hashable, Decodable {
        package var name: String
        package var isDynamicLibrary: Bool
        package var targets: [String]
    }

    package struct PackageTarget: Sendable, Hashable, Decodable {
        package var name: String
        /// The type of the target: `regular`, `executable`, `test`, …
        package var type: String
        package var path: String?
        /// The files in its folder that belong to the target, or `nil` for all.
        package var sources: [String]?
        /// The files and folders in its folder that do not belong to the target.
        package var exclude: [String]?
        package var dependencies: [Dependency]
    }

    package struct Dependency: Sendable, Hashable, Decodable {
        /// The name of a target or product.
        package var name: String
        /// The identity of the product's package, if specified.
        package var package: String?
    }

    package func target(_ name: String) -> PackageTarget? { targets.first { $0.name == name } }

    /// Returns the targets of a product that belong to this package.
    package func targets(of product: Product) -> [PackageTarget] {
        var found: [PackageTarget] = [], left = product.targets
        while let name = left.popLast() {
            guard let target = target(name), !found.contains(target) else { continue }
            found.append(target)
            left += target.dependencies.filter { $0.package == nil }.map(\.name)
        }
        return found
    }
}

extension PackageFacts {
    private enum CodingKeys: String, CodingKey { case name, products, targets, dependencies, toolsVersion }

    /// A dependency, `{"fileSystem": [{"path": …}]}`, ignored if it is of another kind.
    private struct Neighbour: Decodable {
        struct Place: Decodable { var path: String }
        var fileSystem: [Place]?
    }

    /// The tools version, `{"_version": "6.3.0"}`.
    private struct ToolsVersion: Decodable { var _version: String }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        products = try container.decode([Product].self, forKey: .products)
        targets = try container.decode([PackageTarget].self, forKey: .targets)
        neighbours = try container.decode([Neighbour].self, forKey: .dependencies).flatMap {
            ($0.fileSystem ?? []).map(\.path)
        }
        let tools = try container.decode(ToolsVersion.self, forKey: .toolsVersion)._version
        guard let toolsVersion = Version(tools) else {
            throw DecodingError.dataCorruptedError(
                forKey: .toolsVersion, in: container, debugDescription: "expected a version, found `\(tools)`")
        }
        self.toolsVersion = toolsVersion
    }
}

extension PackageFacts.Product {
    private enum CodingKeys: String, CodingKey { case name, targets, type }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        targets = try container.decode([String].self, forKey: .targets)
        // `{"library": ["dynamic"]}`, or `{"executable": null}`.
        let type = try container.decode([String: [String]?].self, forKey: .type)
        isDynamicLibrary = type["library"]??.contains("dynamic") == true
    }
}

extension PackageFacts.Dependency {
    /// Decodes `{"byName": ["Tides", null]}`, `{"product": ["Backplane", "backplane", null, null]}` and the like.
    package init(from decoder: any Decoder) throws {
        let kinds = try decoder.container(keyedBy: Kind.self)
        guard let kind = kinds.allKeys.first else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "expected the kind of a dependency"))
        }
        var words = try kinds.nestedUnkeyedContainer(forKey: kind)
        name = try words.decode(String.self)
        package = kind.stringValue == "product" ? try words.decodeIfPresent(String.self) : nil
    }

    private struct Kind: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
